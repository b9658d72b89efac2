/** Programs whose plain words can do anything, so that patterns about them are held tighter. */

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

/** `/usr/bin/python3.11` is called `python3`. */
export function nameOf(program: string): string {
	const base = program.slice(program.lastIndexOf("/") + 1);
	return /^(python|pypy|perl|ruby|lua|php|node)\d*(\.\d+)*$/.exec(base)?.[1] ?? base;
}

export const isLauncher = (program: string): boolean => launchers.has(nameOf(program));
export const hasSubcommands = (program: string): boolean => withSubcommands.has(nameOf(program));
export const hasDangerousOptions = (program: string): boolean => withDangerousOptions.has(nameOf(program)) || isLauncher(program);
/** Programs whose arguments a deny rule looks into. */
export const runsOthers = (program: string): boolean => isLauncher(program) || nameOf(program) === "find";
