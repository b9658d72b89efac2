/** What programs do with their words. Patterns about programs that run other programs are held tighter. */

const words = (text: string) => new Set(text.trim().split(/\s+/));
const lines = (text: string) =>
	text
		.trim()
		.split("\n")
		.map((line) => line.trim());

/** Their words are programs or code. Only exact patterns cover them. */
const launchers = words(`
	sh bash dash zsh ksh mksh fish ash csh tcsh elvish nu xonsh busybox toybox env sudo doas su runuser pkexec run0 sg newgrp nohup nice ionice chrt taskset
	numactl choom prlimit timeout time setsid setpriv capsh stdbuf unbuffer rlwrap xargs parallel watch watchexec entr nodemon script scriptreplay flock chroot
	unshare nsenter bwrap firejail proot fakeroot faketime ssh sshpass autossh mosh sftp ftp lftp telnet socat nc ncat netcat
	node nodejs deno java bun tsx ts-node python python3 pypy pypy3 ipython perl ruby irb erb php lua luajit Rscript R julia octave scala kotlin groovy jshell
	awk gawk mawk nawk sed gsed ed ex vi vim view rvim nvim emacs emacsclient nano jq m4 bc dc gnuplot ocaml ghc runghc stack cabal erl elixir iex mix escript
	clojure clj lein racket guile scheme sbcl clisp tclsh wish expect osascript pwsh powershell
	sqlite3 sqlite psql mysql mariadb mongo mongosh redis-cli duckdb
	make gmake cmake ctest ninja meson scons waf just task rake thor invoke fab tox nox bazel bazelisk buck buck2 pants nx turbo lerna
	npx pnpx bunx uvx pipx corepack volta fnm nvm asdf mise rtx direnv conda mamba micromamba pixi nix nix-shell nix-build guix
	tar bsdtar gtar star cpio rsync zip gdb lldb rr strace ltrace uftrace perf valgrind heaptrack catchsegv hyperfine systemd-run systemd-nspawn at batch crontab
	start-stop-daemon daemonize screen tmux zellij dbus-run-session dbus-launch xvfb-run cgexec run-parts concurrently foreman forever pm2
	proxychains proxychains4 torsocks tsocks trickle
	less more most pg docker podman nerdctl buildah lxc lxc-attach machinectl vagrant kubectl oc helm terraform tofu ansible ansible-playbook
`);

/** Their first word says what they do: a pattern names it. Options of theirs run programs (`go test -exec`, `npm test --script-shell`). */
const withSubcommands = words(`
	git npm pnpm yarn cargo go gh glab hg svn jj fossil pip pip3 uv poetry pdm hatch composer bundle gem dotnet mvn gradle sbt systemctl brew apt apt-get dnf yum pacman
	flatpak snap gcloud aws az ip
`);

/** An option of theirs runs a program or writes a file: no pattern covers all their options. */
const withDangerousOptions = words(`
	find fd fdfind rg ag ack grep git sort shuf uniq split curl wget aria2c man info tee dd install
	gcc g++ cc c++ clang clang++ cpp ld gold lld as ar rustc javac scp ssh-keygen ssh-add ssh-keyscan openssl gpg gpg2 tcpdump tshark
	patch sdiff diff3 bat batcat delta fzf mail mailx sendmail logrotate dpkg rpm
`);

/** The words after these run as programs or code, or are kept for a later call to run. */
const runningSubcommands = lines(`
	git submodule foreach
	ip netns exec
	ip vrf exec
	git bisect run
	git config
	git hook
	git for-each-repo
	git difftool
	git mergetool
	git filter-branch
	git send-email
	git instaweb
	npm config
	npm set
	npm explore
	npm init
	npm create
	pnpm config
	pnpm create
	yarn config
	yarn create
	yarn init
	yarn node
	cargo config
	gh alias
	gh config
	gh extension
	glab alias
	glab config
	hg debugshell
	jj config
	pip config
	pip3 config
	poetry config
	composer config
	composer global
	dotnet script
	mvn exec:exec
	systemctl edit
	systemctl set-environment
	brew sh
	gcloud compute ssh
	aws configure
	az ssh
`).map((line) => line.split(" "));

/** The words after these are a command: it is held as if it stood alone. */
const forwardingSubcommands = lines(`
	npm exec
	npm x
	pnpm exec
	pnpm dlx
	yarn exec
	yarn dlx
	uv run
	uv tool run
	poetry run
	pdm run
	hatch run
	bundle exec
	gem exec
	composer exec
	dotnet exec
	flatpak run
	snap run
`).map((line) => line.split(" "));

/** Nothing runs any of their words, except for the options below: a denied name among them is only a word. */
const inert = words(`
	echo printf ls dir vdir cat tac head tail wc nl cut tr fold fmt expand paste join comm cmp diff rev column tree stat file du df pwd date cal
	grep egrep fgrep zgrep rg ag find locate sort uniq shuf split seq sleep yes true false test [ : basename dirname realpath readlink
	mkdir rmdir touch rm unlink shred cp mv ln chmod chown chgrp mktemp truncate md5sum sha1sum sha256sum sha512sum cksum base64 base32 xxd od hexdump strings
	id whoami groups uname hostname uptime which whereis type free ps pgrep pkill kill killall jq yq gzip gunzip zcat bzip2 xz zstd unzip
	curl ping dig host nslookup
`);

/** Of programs with subcommands: the word after it is a name of the program's own, never a program. */
const ownSubcommands = words(`
	git npm cargo go gh glab hg svn pip pip3 uv gem brew apt apt-get dnf yum flatpak snap gcloud aws az docker podman nerdctl kubectl oc helm systemctl
`);

const inertOfGit = words(`
	add am apply archive blame branch bundle cat-file check-ignore checkout cherry-pick clean clone commit count-objects describe diff fetch for-each-ref
	format-patch fsck gc grep init log ls-files ls-remote ls-tree merge merge-base mv name-rev notes prune pull push range-diff rebase reflog remote reset
	restore rev-list rev-parse revert rm shortlog show show-ref sparse-checkout stash status switch symbolic-ref tag update-ref worktree
`);

/** Subcommands of git that run no hook. */
const readersOfGit = words(`
	status log diff show ls-files ls-tree ls-remote rev-parse rev-list blame grep describe shortlog cat-file show-ref for-each-ref merge-base name-rev
	check-ignore count-objects range-diff
`);

/** Options that take a program or a configuration. Taken for one, a harmless option makes a rule that restricts catch more. */
const codeOption =
	/^(?:-[a-z]*(?:exec|ok)(?:dir)?$|--?[\w-]*(?:exec|command|cmd|shell|filter|program|pager|editor|hook|config|rsh|pack|helper|call|askpass|action|viewer|browser|ext-diff|bin)|--pre(?:=|$)|-[KX]$)/;
const codeOptionOfGit = /^-[cxuO]|^--(?:exec|config|extcmd|[\w-]*(?:pack|pager|editor|helper|filter))|^!|=!|::|--ext-diff/;

/** Long options that take a program. GNU programs and git also take the beginning of such a name. */
const longCodeOptions = [
	...["compress-program", "filter", "exec", "config", "upload-pack", "receive-pack", "extcmd", "pager", "editor", "command", "shell", "program"],
	...["rsh", "rsh-command", "use-compress-program", "to-command", "checkpoint-action", "info-script", "open-files-in-pager", "hook"],
];
const isCodeOption = (word: string) => {
	const [, name] = /^--([a-z][a-z-]+)/.exec(word) ?? [];
	return name !== undefined && longCodeOptions.some((option) => option.startsWith(name));
};

/** Returns whether no word of a command can run as a program or as code. */
export function isInert(program: string, given: readonly string[]): boolean {
	if (program.includes("/") && !/^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(program)) return false;
	const name = nameOf(program);
	if (name !== "git") return inert.has(name) && !given.some((word) => codeOption.test(word) || isCodeOption(word));
	const rest = given.slice(givenDirectory(given));
	return inertOfGit.has(rest[0] ?? "") && !rest.some((word) => codeOptionOfGit.test(word) || isCodeOption(word));
}

/** Returns whether a command is known to run nothing but the program itself: no hook, and no file that it is given. */
export function readsOnly(program: string, given: readonly string[]): boolean {
	if (!isInert(program, given)) return false;
	return nameOf(program) !== "git" || readersOfGit.has(given[givenDirectory(given)] ?? "");
}

/** Returns the words of a command that may run: all, or those after a subcommand. */
export function mayBePrograms(program: string, given: readonly string[]): readonly string[] {
	if (!ownSubcommands.has(nameOf(program))) return given;
	const at = nameOf(program) === "git" ? givenDirectory(given) : 0;
	return /^[a-z]/.test(given[at] ?? "") ? given.slice(at + 1) : given;
}

/** Returns how many words in front of the subcommand of git only say where to work. */
function givenDirectory(given: readonly string[]): number {
	let at = 0;
	for (;;) {
		const word = given[at] ?? "";
		if (word === "-C") at += 2;
		else if (/^(?:-P|--no-pager|--literal-pathspecs|--no-optional-locks|--git-dir=.*|--work-tree=.*)$/.test(word)) at += 1;
		else return at;
	}
}

/** `/usr/bin/python3.11` is called `python`. */
export function nameOf(program: string): string {
	const base = program.slice(program.lastIndexOf("/") + 1);
	return /^(python|pypy|perl|ruby|lua|php|node|gcc|g\+\+|clang\+\+|clang)(?:-?\d+(?:\.\d+)*)?$/.exec(base)?.[1] ?? base;
}

export const isLauncher = (program: string): boolean => launchers.has(nameOf(program));
export const hasSubcommands = (program: string): boolean => withSubcommands.has(nameOf(program));
export const hasDangerousOptions = (program: string): boolean =>
	withDangerousOptions.has(nameOf(program)) || hasSubcommands(program) || isLauncher(program);

/** Returns whether words that begin so, followed by any others, may run what the others say. */
export function mayRun(known: readonly string[]): boolean {
	return [...runningSubcommands, ...forwardingSubcommands].some(
		(running) => isStartOf(running, known) || (isStartOf(known, running) && known.length > 1),
	);
}

/** Returns the words of the command that these words run; undefined where they do not begin with a subcommand for that. */
export function forwarded<Word>(command: readonly Word[]): readonly Word[] | undefined {
	const found = forwardingSubcommands.find((start) => isStartOf<unknown>(start, command));
	return found && command.slice(found.length);
}

function isStartOf<Word>(start: readonly Word[], of: readonly Word[]): boolean {
	return start.length <= of.length && start.every((word, index) => (index === 0 ? nameOf(String(of[0])) === word : of[index] === word));
}
