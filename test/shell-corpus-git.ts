/** Git commands that run, write or reach more than `allow git *` permits. One per line. */
export const GIT_TO_ASK = `
git -c core.pager=id log
git -c alias.x=!id x
git -ccore.pager=id log
git --config-env=core.pager=X log
git --config-env core.pager=X log
git --exec-path=tools status
git --exec-path tools status
git -C sub status
git --git-dir=sub status
git --git-dir sub status
git --work-tree=sub checkout main
git --work-tree sub checkout main
git -P -c core.pager=id log
git --no-pager -c core.pager=id log
git --bare -C sub log
git --namespace=x -C sub log
git -p -c core.pager=id log
git --paginate -c core.pager=id log
git --attr-source=x -C sub log
git st
git co main
git lfs pull
git flow init
git my-alias
git -P my-alias
git gui
git citool
git instaweb
git web--browse index.html
git config core.fsmonitor ./x
git config --global core.fsmonitor ./x
git config set core.pager id
git config --add alias.x !id
git config --file sub/config core.pager id
git config -f sub/config core.pager id
git config --edit
git config -e
git config --global --edit
git config --replace-all core.editor id
git config --local core.hooksPath hooks
git config --unset core.hooksPath
git config --list
git config -l
git config --get remote.origin.url
git config get remote.origin.url
git config --get-regexp url
git config --get http.extraheader
git difftool
git difftool --extcmd=id
git difftool -x id
git difftool --ext=id HEAD
git difftool --tool=vimdiff
git mergetool
git mergetool --tool=vimdiff
git clone -u ./x . there
git clone -u./x . there
git clone --upload-pack=./x . there
git clone --upload ./x . there
git clone --up ./x . there
git clone -c core.fsmonitor=./x https://example.com/x.git
git clone --config core.fsmonitor=./x https://example.com/x.git
git clone --conf=core.fsmonitor=./x https://example.com/x.git
git clone --template=hooks https://example.com/x.git
git clone --templ hooks https://example.com/x.git
git clone 'ext::sh -c id' there
git init --template=hooks
git init --templ=hooks sub
git init --separate-git-dir=sub
git submodule foreach id
git submodule foreach --recursive 'touch x'
git submodule --quiet foreach id
git submodule update --init
git submodule add https://example.com/x.git
git submodule set-url x https://example.com/x.git
git bisect run ./x
git bisect run npm test
git bisect visualize
git bisect view
git rebase --exec id main
git rebase -x id main
git rebase -xid main
git rebase --exe=id main
git rebase -i main
git rebase --interactive main
git filter-branch --tree-filter id HEAD
git filter-branch --env-filter id
git grep -O pattern
git grep -Oid pattern
git grep --open-files-in-pager=id pattern
git grep --open=id pattern
git diff --ext-diff
git diff --ext HEAD
git diff --output=x
git diff --outp x
git log --output=x
git log -p --ext-diff
git show --ext-diff HEAD
git show --output=x HEAD
git format-patch -o sub HEAD
git format-patch --output-directory=sub HEAD
git archive --output=x.tar HEAD
git archive -o x.tar HEAD
git archive --remote=. --exec=./x HEAD
git archive --remote ext::id HEAD
git bundle create x HEAD
git fetch --upload-pack=./x origin
git fetch --upload-pa ./x origin
git fetch ext::id
git pull --upload-pack=./x
git pull --upl=./x
git ls-remote --upload-pack=./x .
git ls-remote --exec=./x .
git ls-remote --e=./x .
git ls-remote ext::id
git remote add x 'ext::sh -c id'
git remote add x ext::id
git remote set-url origin ext::id
git fetch-pack --exec=./x . main
git send-pack --receive-pack=./x . main
git send-email --sendmail-cmd=id x.patch
git imap-send
git daemon --base-path=.
git shell -c id
git upload-pack .
git receive-pack .
git remote-ext x id
git credential fill
git credential-store get
git hook run pre-commit
git maintenance start
git maintenance register
git for-each-repo --config=x status
git fast-import
git apply x.patch
git apply --unsafe-paths x.patch
git apply --directory=.git x.patch
git am x.mbox
git p4 sync
git svn fetch
git quiltimport
git mv x .git/hooks/pre-commit
git checkout-index --prefix=.git/hooks/ x
git worktree add .git/hooks
git cat-file --textconv HEAD:x
git cat-file --filters HEAD:x
git show HEAD:.env
git log -p -- .env
git help -w log
git help --web log
git interpret-trailers --in-place x
git update-ref --stdin
git sh-setup
git var GIT_EDITOR x --exec=y
git branch --edit-description
git replace --edit HEAD
git notes edit
git commit --amend --edit -c HEAD
git add -e
git add --edit
git push-alias
git remote add x foo::bar
git ls-remote foo::bar
git archive --remote=foo::bar HEAD
git clone --bare -u x y z
git clone -qu x y z
git clone --recurse-submodules -c a.b=c https://example.com/x.git
git submodule -q foreach id
git submodule init
git rebase -qx id main
git rebase --root --exec id
git grep -nO pattern
git diff --no-index --output=x a b
git log --no-pager --output=x
git --no-pager config alias.x !id
git -P difftool
git --literal-pathspecs bisect run id
git --no-optional-locks -c core.fsmonitor=./x status
git -P -P -P st
git merge -s ./evil x
git merge --strategy=evil x
git merge -sevil x
git pull -s evil
git pull --strat evil origin
git rebase -s evil main
git rebase --strategy evil main
git cherry-pick --strategy=evil x
git revert --strategy evil x
`;

/** Spellings that `deny git push *` must catch. One per line. */
export const GIT_TO_DENY = `
git -P push
git -p push
git --no-pager push
git --no-pager push origin main
git --paginate push
git --bare push
git -C sub push
git -C . push --force
git -c push.default=current push
git -c a.b=c -P push
git --git-dir=sub push
git --git-dir sub push
git --work-tree=sub push
git --work-tree sub push
git --namespace=x push
git --namespace x push
git --exec-path=x push
git --config-env=a.b=C push
git --config-env a.b=C push
git --literal-pathspecs push
git --no-optional-locks push
git --no-replace-objects push
git --no-advice push
git --no-lazy-fetch push
git --attr-source=x push
git --attr-source x push
git --super-prefix=x push
git --glob-pathspecs --icase-pathspecs push
/usr/bin/git -P push
GIT push
sudo git -P push
env git -C sub push
xargs git -P push
timeout 5 git -P push
nice git -c a.b=c push
sh -c 'git -P push'
git bisect run git push
git submodule foreach git push
git submodule foreach 'git push'
git rebase -x 'git push' main
git rebase --exec 'git -P push' main
npm exec -- git push
setpriv git push
hyperfine 'git push'
flock x git push
watch git push
parallel git push
strace -f git push
script -c 'git push' x
git -P -P push
git -c x=push push
git --unknown push
git --unknown value push
git --unknown=value push origin
npx git push
uv run git push
poetry run git -P push
git submodule --quiet foreach --recursive git push
`;
