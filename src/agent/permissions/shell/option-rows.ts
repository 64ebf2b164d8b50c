import type { ProgramRow } from "./program-row.ts";

/** Programs that go beyond their words only with some options. */
export const OPTION_ROWS: readonly ProgramRow[] = [
  {
    names: "find gfind",
    kind: "exact",
    reason: "runs commands, deletes or writes by its actions",
    when: "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls",
    oneDash: true,
  },
  {
    names: "fd fdfind",
    kind: "exact",
    reason: "runs a command for each file",
    when: "-x -X --exec --exec-batch",
  },
  {
    names: "rg ag ack bat batcat delta ugrep",
    kind: "exact",
    reason: "runs the program that an option names",
    when: "--pre --hostname-bin --pager --filter --diff-so-fancy-pager",
  },
  {
    names: "sort gsort shuf iconv tree",
    kind: "exact",
    reason: "writes the file that an option names",
    when: "-o --output",
  },
  {
    names: "sort gsort",
    kind: "exact",
    reason: "runs a compressor",
    when: "--compress-program -T --temporary-directory",
  },
  {
    names: "tar gtar bsdtar",
    kind: "exact",
    reason: "runs programs or writes whatever the archive names",
    when: `-x --extract --get -I -F --to-command --checkpoint-action --use-compress-program --rsh-command --rmt-command
      --info-script --new-volume-script --index-file`,
  },
  {
    names: "unzip",
    kind: "exact",
    reason: "writes whatever the archive names",
    unless: "-l -t -p -Z -v -z -lv",
  },
  {
    names: "7z 7za 7zr unrar unar cpio pax ar patch ditto jar",
    kind: "exact",
    reason: "writes whatever its input names",
    unless: "l t -t -tf tf",
  },
  { names: "zip", kind: "exact", reason: "runs a test command", when: "-T --test --unzip-command" },
  {
    names: "rsync",
    kind: "exact",
    reason: "runs a remote shell",
    when: "-e --rsh --rsync-path --temp-dir -M --remote-option",
  },
  { names: "scp", kind: "exact", reason: "runs a connection program", when: "-o -S -F -J -D" },
  {
    names: "curl",
    kind: "exact",
    reason: "writes or sends files that options name",
    when: `-o -O -K -T -F -d -D -c -b -E --output --remote-name --remote-name-all --output-dir --config --upload-file
      --form --data --data-binary --dump-header --cookie-jar --trace --trace-ascii --libcurl --engine --netrc-file
      --stderr --hsts --alt-svc --etag-save --unix-socket --doh-url --proxy --preproxy --write-out`,
  },
  { names: "wget aria2c axel", kind: "exact", reason: "writes what the server sends" },
  { names: "uniq", kind: "exact", reason: "writes its second file", when: "**" },
  {
    names: "date",
    kind: "exact",
    reason: "sets the clock",
    when: "-s --set",
    unless: "-Iseconds -Iminutes -Ihours -Idate -Ins",
  },
  { names: "printf", kind: "exact", reason: "sets a variable", when: "-v" },
  { names: "test [", kind: "exact", reason: "evaluates the name of a variable", when: "-v -R" },
  { names: "wait", kind: "exact", reason: "sets a variable", when: "-p" },
  { names: "jq gojq jaq", kind: "exact", reason: "runs a program from a file", when: "-f --from-file -L" },
  {
    names: "yq",
    kind: "exact",
    reason: "writes in place or loads files",
    when: "-i --inplace -s --split-exp -f --from-file",
  },
  {
    names: "gofmt rustfmt black isort ruff",
    kind: "exact",
    reason: "takes settings or writes files by options",
    when: "-w -r --config --config-path -o --output-file",
  },
  {
    names: "base64 xxd",
    kind: "exact",
    reason: "writes the file that an option names",
    when: "-o --output -r",
  },
  { names: "csplit split", kind: "exact", reason: "writes files or runs a filter" },
  {
    names: "hostname",
    kind: "exact",
    reason: "sets the name of the machine",
    when: "*",
    unless: "-f -i -I -s -d -A --fqdn --ip-address --short",
  },
  { names: "sysctl", kind: "exact", reason: "changes the system", when: "-w -p --write --load *=" },
  {
    names: "openssl",
    kind: "exact",
    reason: "loads engines and writes files that options name",
    when: "-out -engine -provider -provider-path -keyout -writerand -config engine",
    oneDash: true,
  },
  {
    names: "tsc",
    kind: "exact",
    reason: "writes where an option says",
    when: "--outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile",
  },
  {
    names: "ssh-agent ssh-add ssh-keygen ssh-copy-id",
    kind: "exact",
    reason: "handles keys and loads libraries",
  },
  {
    names: `mount umount losetup insmod modprobe kextload update-alternatives ldconfig useradd usermod userdel passwd chsh
      visudo iptables nft ufw reboot shutdown halt poweroff init telinit kexec fdisk mkfs mkswap`,
    kind: "exact",
    reason: "changes the system",
  },
  { names: "gpg gpg2", kind: "exact", reason: "runs agents and writes files" },
  {
    names: "tcpdump tshark dumpcap",
    kind: "exact",
    reason: "runs a program for each file",
    when: "-z -w -X --postrotate-command",
  },
  {
    names: "ctags",
    kind: "exact",
    reason: "takes parsers from a file",
    when: "--options --options-maybe -o -f --output-file",
  },
  {
    names: "gcc g++ cc c++ clang clang++ tcc rustc ld gold lld nvcc",
    kind: "exact",
    reason: "loads plugins or runs a wrapper",
    when: "-wrapper -fplugin -B* -Xclang -specs --specs -load -fuse-ld -Clinker --codegen -plugin @*",
    oneDash: true,
  },
  { names: "rustc", kind: "exact", reason: "runs the linker that an option names", when: "-C" },
  { names: "nmap", kind: "exact", reason: "runs scripts", when: "--script -A" },
  {
    names: "tex pdftex latex pdflatex xelatex lualatex luatex xetex latexmk tectonic arara",
    kind: "exact",
    reason: "runs commands that the document names",
    when: "-shell-escape -enable-write18 -pdflatex -e -r -Z",
    oneDash: true,
  },
  { names: "protoc buf", kind: "exact", reason: "runs plugins", when: "--plugin --template" },
  {
    names: `pytest py.test eslint prettier stylelint jest vitest vite webpack rollup esbuild mocha ava babel nyc c8
      karma playwright cypress mypy pylint flake8 rubocop phpunit standard biome oxlint storybook next nuxt astro parcel`,
    kind: "exact",
    reason: "loads code or settings from where an option says",
    when: `-p -c --plugin --plugin-search-dir --config --project --build --rootdir --root --confcutdir --require -r
      --import --loader --resolve-plugins-relative-to --rulesdir --parser --resolver --reporter --reporters
      --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --testRunner --testEnvironment --runner
      --environment --transform --format --formatter --custom-formatter --custom-syntax --preset --presets --plugins
      --outDir --outFile --outfile --output-file --output-path -o --cov-config --import-mode --pyargs --load-plugins
      --python-executable --bootstrap --config-file --rcfile
      --init-hook`,
  },
  {
    names: `typedoc asciidoctor markdownlint markdownlint-cli2 textlint vale cspell commitlint rspec cucumber semgrep
      checkov bandit hadolint swc tsup clang-tidy cppcheck`,
    kind: "exact",
    reason: "loads code or settings from where an option says",
    when: `-c -g -r -R -I --config --config-file --plugin --require --rules --rulesdir --external-checks-dir --extends
      --load --addon --template-dir`,
  },
  {
    names: "pandoc",
    kind: "exact",
    reason: "runs filters, or writes where an option says",
    when: `-F -L -d -o --filter --lua-filter --defaults --data-dir --pdf-engine --pdf-engine-opt --output --template
      --extract-media`,
  },
  {
    names: `convert magick mogrify identify composite montage inkscape soffice libreoffice gimp blender gs ghostscript
      plantuml`,
    kind: "exact",
    reason: "runs programs or code that its documents name",
  },
  {
    names: "javac kotlinc scalac",
    kind: "exact",
    reason: "runs processors and plugins of the compiler",
    when: "-processor -processorpath --processor-path --processor-module-path -Xplugin* -J* -script @*",
    oneDash: true,
  },
  {
    names: "install ginstall",
    kind: "exact",
    reason: "runs a program on the file",
    when: "-s --strip --strip-program",
  },
  { names: "file", kind: "exact", reason: "writes a table of types", when: "-C --compile" },
  { names: "rename prename perl-rename", kind: "exact", reason: "runs the expression in its words" },
  { names: "xdotool ydotool wtype", kind: "exact", reason: "types into other programs" },
  {
    names: `setcap chattr loginctl keytool certutil update-ca-certificates gsettings dconf defaults mknod cryptsetup lvm
      btrfs zfs grub-install mkinitramfs swapon swapoff`,
    kind: "exact",
    reason: "changes the system",
  },
];
