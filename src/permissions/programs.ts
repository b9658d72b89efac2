/** What programs do with their words. Patterns about programs that run other programs are held tighter. */

const words = (text: string) => new Set(text.trim().split(/\s+/));

/** Their words are programs or code. Only exact patterns cover them. */
const launchers = words(`
	sh bash dash zsh ksh fish ash busybox env sudo doas su nohup nice ionice timeout time setsid stdbuf xargs parallel watch entr script flock chroot
	unshare nsenter bwrap ssh node nodejs deno bun tsx python python3 pypy pypy3 perl ruby php lua luajit Rscript awk gawk mawk nawk sed gsed ed ex vi vim nvim
	emacs jq make gmake cmake ninja just npx pnpx bunx tar bsdtar cpio rsync zip gdb lldb strace ltrace perf systemd-run at crontab screen tmux expect docker
	podman kubectl helm terraform ansible
`);

/** Their first word says what they do: a pattern names it. */
const withSubcommands = words(`
	git npm pnpm yarn cargo go gh glab hg svn pip pip3 uv poetry composer bundle dotnet mvn gradle systemctl brew apt
`);

/** An option of theirs runs a program or writes a file: no pattern covers all their options. */
const withDangerousOptions = words("find rg grep git sort curl wget less man tee dd install");

/** Nothing runs any of their words, except for the options below: a denied name among them is only a word. */
const inert = words(`
	echo printf ls dir vdir cat tac head tail wc nl cut tr fold fmt expand paste join comm cmp diff rev column tree stat file du df pwd date cal
	grep egrep fgrep zgrep rg ag find locate sort uniq shuf split seq sleep yes true false test [ : basename dirname realpath readlink
	mkdir rmdir touch rm unlink shred cp mv ln chmod chown chgrp mktemp truncate md5sum sha1sum sha256sum sha512sum cksum base64 base32 xxd od hexdump strings
	id whoami groups uname hostname uptime which whereis type free ps pgrep pkill kill killall jq yq gzip gunzip zcat bzip2 xz zstd unzip
	curl ping dig host nslookup
`);

/** Of programs with subcommands: the word behind it is a name of the program's own, never a program. */
const ownSubcommands = words(`
	git npm cargo go gh glab hg svn pip pip3 uv gem brew apt apt-get dnf yum flatpak snap gcloud aws az docker podman nerdctl kubectl oc helm systemctl
`);

const inertOfGit = words(`
	add am apply archive blame branch bundle cat-file check-ignore checkout cherry-pick clean clone commit count-objects describe diff fetch for-each-ref
	format-patch fsck gc grep init log ls-files ls-remote ls-tree merge merge-base mv name-rev notes prune pull push range-diff rebase reflog remote reset
	restore rev-list rev-parse revert rm shortlog show show-ref sparse-checkout stash status switch symbolic-ref tag update-ref worktree
`);

/** Options that take a program or a configuration. Taken for one, a harmless option makes a rule that restricts catch more. */
const codeOption =
	/^(?:-[a-z]*(?:exec|ok)(?:dir)?$|--?[\w-]*(?:exec|command|cmd|shell|filter|program|pager|editor|hook|config|rsh|pack|helper|call|askpass|action|viewer|browser|ext-diff|bin)|--pre(?:=|$)|-[KX]$)/;
const codeOptionOfGit = /^-[cxuO]|^--(?:exec|config|extcmd|[\w-]*(?:pack|pager|editor|helper|filter))|^!|=!|::|--ext-diff/;

/** Returns whether no word of a command can run as a program or as code. */
export function isInert(program: string, given: readonly string[]): boolean {
	if (program.includes("/") && !/^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(program)) return false;
	const name = nameOf(program);
	if (name !== "git") return inert.has(name) && !given.some((word) => codeOption.test(word));
	const rest = given.slice(givenDirectory(given));
	return inertOfGit.has(rest[0] ?? "") && !rest.some((word) => codeOptionOfGit.test(word));
}

/** Returns the words of a command that may run: all, or those behind a subcommand. */
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
export const hasDangerousOptions = (program: string): boolean => withDangerousOptions.has(nameOf(program)) || isLauncher(program);
