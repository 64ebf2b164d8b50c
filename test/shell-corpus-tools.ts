/** Build tools, package managers and compilers that run code. A rule `program *` must not cover them. One per line. */
export const TOOLS_TO_ASK = `
go test --exec id
go test -exec id
go test -exec=id
go test --exec=./x
go test -toolexec id
go build --toolexec=id
go vet -vettool=./x
go vet --vettool ./x
go run .
go generate
go tool x
go env -w GOFLAGS=-exec=x
go test -C sub
go build -o .git/hooks/pre-commit
cargo --config x.toml build
cargo run
cargo xtask
cargo install x
cargo +nightly run
cargo build --config x=y
npm exec id
npm x id
npm explore x id
npm install x
npm start
npm run x
npm test
npm pkg set scripts.test=id
npm config set script-shell id
npm set script-shell=id
npm init x
npm create x
npm rebuild
npm edit x
npm --prefix sub run x
npm -w sub exec id
npm --script-shell=./x run y
pnpm dlx x
pnpm exec id
pnpm x
pnpm install
pnpm -r exec id
yarn dlx x
yarn exec id
yarn x
yarn install
bun x.ts
bun run x
deno run x
npx x
uvx x
uv run id
uv tool run x
poetry run id
pipenv run id
pdm run id
hatch run x
tox
nox
conda run id
mamba run id
pyenv exec id
rbenv exec id
asdf exec id
mise exec -- id
mise run x
nvm exec 20 id
volta run id
fnm exec id
nix run x
nix-shell --run id
guix shell
devbox run x
bundle exec id
pip install x
pip3 install .
pipx run x
gem install x
cpan x
composer install
composer exec id
brew install x
apt install x
apt-get install x
dnf install x
apk add x
pacman -U x
dpkg -i x
rpm -i x
snap run x
flatpak run x
make
make test
make SHELL=./x test
cmake -P x
ninja
just x
rake x
gradle x
mvn x
ant x
bazel run x
meson test
task x
docker run x
docker exec x id
docker compose up
podman run x
kubectl exec x -- id
kubectl cp x y
kubectl --kubeconfig=x get pods
helm install x y
terraform apply
terraform -chdir=sub plan
pulumi up
ansible all -m shell -a id
ansible-playbook x
vagrant ssh -c id
gh alias set x !id
gh extension install x
gh x
gh repo clone x -- -u ./y
gh codespace ssh
adb shell id
fastlane x
java -jar x
ruby x
perl -e x
php -r x
lua x
Rscript x
julia x
osascript -e x
open x
xdg-open x
ld.so ./x
env -S 'id'
ctags --options=x y
gcc -wrapper id x.c
gcc -fplugin=./x y.c
clang -fplugin=./x y.c
protoc --plugin=./x y
pytest -p x
pytest --rootdir=sub
eslint --config x
prettier --plugin=./x y
jest --config x
vitest --config x
vitest --conf=x
vite --config x
webpack -c x
jest --globalSetup ./x
mocha --require ./x
npx sh -c id
npx tsx x.ts
uv run python x.py
poetry run sh -c id
bun run x.ts
deno task x
docker-compose up
docker-compose exec x id
ssh-agent id
ssh-copy-id x
ssh-keygen -D ./x
mount x y
modprobe x
update-alternatives --install a b c 1
tsc --outDir .vscode
npm --loglevel ls run x
npm --loglevel ls exec id
kubectl -n ls exec x -- id
cargo --color always run
gh --repo list alias set x !id
pip --cache-dir list install x
yarn --mode list run x
systemctl --root status start x
install --strip-program=./x -s a b
gcc -B. a.c
gcc @args
openssl engine -t ./x.so
loginctl enable-linger
pandoc --filter ./x a.md
pandoc --lua-filter=x.lua a.md
pandoc -o out.html a.md
convert a.svg msl:x
magick a.svg b.png
gs -dNOSAFER a.ps
inkscape --actions=x a.svg
soffice --headless --convert-to pdf a
blender -b -P x.py
mypy --config-file x
pylint --init-hook=import-os a
javac -processor x A.java
javac @args
kotlinc -script a.kts
typedoc --plugin ./x
asciidoctor -r ./x a.adoc
markdownlint -r ./x a
textlint --rulesdir x
cspell -c x.js a
commitlint -g x.js
rspec -r ./x
cucumber -r ./x
semgrep --config ./x
checkov --external-checks-dir ./x
clang-tidy --load=./x.so a
cppcheck --addon=./x.py a
rename s/a/b/e a
prename s/a/b/e a
file -C -m x
xdotool key a
setcap cap_setuid+ep a
gsettings set a b c
dconf write a b
defaults write a b
update-ca-certificates
aws s3 sync . x
az vm delete
firebase deploy
vercel deploy
wrangler deploy
prisma db push
rclone copy a b:
twine upload x
nuget install x
ansible-galaxy install x
ansible-pull -U x
degit a b
`;
