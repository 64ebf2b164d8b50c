/** Everyday commands that a rule `program *` covers; asking about one is a false alarm. One per line. */
export const EVERYDAY = `
git status
git status --short
git status -sb
git -P log
git --no-pager diff
git --no-pager log --oneline -5
git --no-optional-locks status
git --literal-pathspecs ls-files
git log --oneline -20
git log --stat -3
git log -p -2 src/index.ts
git log --author=me --since=yesterday
git log --graph --all
git log -- package.json
git log --follow -- .github/workflows/ci.yml
git diff
git diff --stat
git diff --cached
git diff HEAD~1 -- package.json
git diff main...HEAD
git diff -C -M
git diff --name-only
git diff --word-diff
git show HEAD
git show HEAD:package.json
git show --stat HEAD
git blame src/index.ts
git blame -L 1,20 package.json
git branch
git branch -a
git branch -vv
git tag
git tag -l 'v*'
git remote
git remote -v
git remote show origin
git stash list
git stash show -p
git rev-parse HEAD
git rev-parse --show-toplevel
git rev-list --count HEAD
git describe --tags
git ls-files
git ls-tree -r HEAD
git ls-remote origin
git cat-file -p HEAD
git grep -n pattern
git grep -i pattern src
git shortlog -sn
git reflog
git merge-base main HEAD
git config --get user.name
git config get user.email
git worktree list
git submodule status
git bisect log
git check-ignore x
git for-each-ref
git name-rev HEAD
git count-objects -v
git fsck
git add src/index.ts
git add -A
git add package.json
git add .github/workflows/ci.yml
git commit -m message
git commit -am message
git fetch origin
git fetch --prune
git version
git clone https://example.com/x.git
git clone --depth 1 https://example.com/x.git sub
git remote add x https://example.com/x.git
git pull --rebase
git log --grep=a::b
git log --format='%H::%s'
git diff --output-indicator-new=x
git help log
ls
ls -la
ls -R src
ls .github/workflows
ls node_modules/.bin
cat README.md
cat package.json
cat Makefile
cat .github/workflows/ci.yml
cat -n src/index.ts
head -20 package.json
tail -f log.txt
tail -n 50 log.txt
wc -l src/index.ts
grep -rn pattern src
grep -n script package.json
grep -E 'a|b' Makefile
grep --include=x -r pattern .
egrep pattern src/index.ts
rg pattern
rg -n --type ts pattern src
rg -l pattern
rg --pretty pattern
rg --pre-glob x pattern
sort -t: -k2 a
rg --files
ag pattern
fd index
fd -e ts
find . -name '*.ts'
find . -type f -newer package.json
find src -maxdepth 2 -print
find . -name node_modules -prune -o -name x
tree
tree -L 2
stat package.json
file src/index.ts
du -sh src
df -h
diff a b
diff -u package.json other.json
cmp a b
comm a b
cut -d: -f1 a
sort a
sort -u a
sort -k2 -n a
sort --reverse a
sort --numeric-sort a
uniq a
uniq -c
tr a b
nl a
paste a b
join a b
fold -w 80 a
column -t a
strings a
od -c a
hexdump -C a
md5sum a
sha256sum package.json
base64 a
realpath src
readlink a
dirname a/b
basename a/b
pwd
whoami
id
date
date +%s
uname -a
uptime
ps aux
which node
type ls
printenv PATH
echo hello
printf '%s' x
true
sleep 1
seq 5
test -f package.json
jq . package.json
jq .scripts package.json
jq -r .name package.json
npm --version
cargo --version
node --version
python3 --version
make --version
shellcheck x.sh
touch src/new.ts
mkdir -p src/new
cp src/a.ts src/b.ts
mv src/a.ts src/b.ts
`;

/** Everyday commands of programs that may do more than read: `program *` asks, `program **` allows. One per line. */
export const CONFIRMED = `
curl https://example.com
curl -sSL https://example.com/x
kubectl -n prod get pods
docker-compose ps
date -Iseconds
tsc --project .
tsc -p tsconfig.json
pytest tests/a.py::test
pytest -x -q
eslint --fix src
xxd a
hostname
yq .a x.yml
tar -tf a.tar
tar tzf a.tgz
unzip -l a.zip
npm ls
npm ls --depth=0
npm outdated
npm view react version
npm why x
npm audit
pnpm list
pnpm why x
yarn why x
cargo tree
cargo metadata
go version
go list ./...
go env GOPATH
go doc fmt
docker ps
docker ps -a
docker images
docker logs x
docker inspect x
kubectl get pods
kubectl describe pod x
kubectl logs x
helm list
gh pr list
gh pr view 1
gh issue list
gh run list
pip list
pip show x
pip freeze
brew list
tsc --noEmit
eslint src
prettier --check src
pytest tests
jest src
vitest run
ruff check src
mypy src
cloc src
systemctl status x
journalctl -n 20
lsof -i
./scripts/release.sh minor
npm run lint
npm run build -- --watch
node scripts/build.ts
node scripts/build.ts --fast
npx eslint src
`;
