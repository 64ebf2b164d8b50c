/** Programs that run other programs. A rule `program *` must not cover them. One per line. */
export const RUNNERS_TO_ASK = `
capsh -- -c id
sg staff id
newgrp staff
chpst -u x id
proot id
fakechroot id
systemd-nspawn id
machinectl shell
daemonize ./x
dbus-run-session id
dbus-launch id
runcon x id
sandbox-exec -f x id
cgexec -g x id
ip netns exec x id
cpulimit -l 5 id
choom -n 1 -- id
linux64 id
eatmydata id
faketime now id
proxychains4 id
dotenvx run -- id
envdir x id
aws-vault exec x -- id
op run -- id
vault ssh x
chamber exec x -- id
doppler run -- id
sops exec-env x id
rush id
viddy id
fswatch -o .
nodemon x
multitime id
poop id
concurrently id
npm-run-all x
run-s x
run-p x
turbo run x
nx run x
lerna exec id
foreman start
overmind start
honcho start
pm2 start x
forever x
supervisord -c x
ifne id
pee id
mispipe id ls
vipe
vidir
mpirun id
srun id
pdsh -w x id
pssh -h x id
gdbserver :1 id
lldb id
rr record id
bpftrace -c id
uftrace id
heaptrack id
kcov x id
coverage run x
py-spy record x
dtrace -c id
truss id
qemu-x86_64 x
wine x
mono x
dotnet run
dotnet x.dll
rlwrap id
asciinema rec -c id x
ttyrec -e id
dtach -n x id
abduco -n x id
zellij run id
autossh x
sshpass -p x id
mosh x
sftp -D ./x
socat x exec:id
nc -e id x 1
ncat --exec id x 1
websocat x
telnet x
crontab x
crontab -e
anacron
run-parts x
launchctl load x
systemctl start x
systemctl --user enable x
systemctl edit x
lckdo x id
setlock x id
sem id
vi x
vim -c !id
nvim --headless -c !id
emacs --batch --eval x
emacsclient -e x
nano x
micro x
hx x
kak x
code .
less x
more x
most x
man ls
info ls
w3m x
lynx x
ftp x
lftp -c !id
mail x
mutt
fzf --preview id
fzf
sk --preview id
ranger
nnn
mc
bat --pager=id x
ag --pager=id x
ack --pager=id x
rg --pre id x
rg --pre=id x
rg --hostname-bin=id x
fd -x id
fd --exec id
fd -X id
fd --exec-batch id
find . -exec id {} +
find . -execdir id {} +
find . -okdir id {} +
find . -fprintf x y
find . -fls x
sed -n 1p x
gawk x
mawk x
mlr put x y
m4 x
bc x
dc x
sqlite3 x .tables
duckdb x
psql -c x
mysql -e x
mariadb -e x
mongosh x
redis-cli x
gnuplot x
octave x
tcpdump -z id -G 1 -w x
zip -T -TT id x y
tar --checkpoint-action=exec=id -cf x y
tar -cf x --to-comm=id y
tar --rsh=id -cf x y
bsdtar --use-compress-program id -cf x y
rsync -e id x y
rsync --rsh=id x y
rsync --rs=id x y
scp -S ./x y z
scp -o ProxyCommand=id y z
rustc -C linker=./x y.rs
rustc -Clinker=./x y.rs
rustc --codegen linker=./x y.rs
nmap --script x localhost
nmap --script=./x localhost
pdflatex -shell-escape x
pdflatex --shell-escape x
latexmk -shell-escape x
lualatex -shell-escape x
xelatex --enable-write18 x
dart run x
zig run a.zig
zig build
nim c -r a.nim
crystal run a.cr
odin run .
ghc -e main a
qjs x
d8 x
hermes x
bpython x.py
micropython x.py
coffee x
jiti x
vite-node x
babel-node x
ts-node-esm x
janet x
fennel x
swipl -g main x
wasmtime x.wasm
wasmer run x
dotnet-script x
gulp
gulp build
grunt
dune exec x
gleam run
spago run
rails runner x
thor x
artisan tinker
wp eval x
flutter run
ng build
k6 run a.js
newman run a.json
streamlit run a.py
uvicorn a:b
gunicorn a:b
flask run
django-admin shell
celery -A a worker
jupyter nbconvert --execute a.ipynb
papermill a b
msbuild x
xcodebuild
mkdocs build
sphinx-build -c . a b
jekyll build
hugo
lint-staged
semantic-release
packer build x
nomad job run x
consul exec id
ghcup run x
`;

/** Programs whose words are a command of their own. Neither `program *` nor `program **` may cover them. One per line. */
export const WRAPPERS_TO_ASK = `
setpriv --reuid=0 id
runuser -u x id
su x -c id
gosu x id
su-exec x id
run0 id
pkexec id
doas id
unshare -r id
nsenter -t 1 id
bwrap --bind . . id
firejail id
fakeroot id
chroot . id
systemd-run id
systemd-inhibit id
start-stop-daemon --start --exec ./x
env id
nice id
nice -n 5 id
ionice -c 3 id
chrt -i 0 id
taskset 1 id
numactl -N 0 id
prlimit --nofile=9 id
setarch x86_64 id
setsid id
stdbuf -oL id
timeout 5 id
gtimeout 5 id
nohup id
torsocks id
dotenv id
direnv exec . id
xargs id
parallel id
watch id
entr id
watchexec id
hyperfine id
hyperfine 'ls -la'
perf stat id
perf record id
retry id
chronic id
strace id
strace -f ls
ltrace id
gdb id
valgrind id
script -c id x
script x
expect -c x
unbuffer id
screen -dm id
tmux new-session id
ssh x id
ssh -o ProxyCommand=id x
at now
batch
flock x id
flock x -c id
time id
command id
busybox sh
busybox id
toybox id
xvfb-run ./x
xvfb-run -a ./x
sudo id
env A=1 id
sh -c id
bash x.sh
eval id
cd src
`;
