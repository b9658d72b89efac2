/** The filter of system calls: a program for the kernel's packet filter, as bytes. Calls are allowed unless a rule here refuses them. */

export type Processor = "x64" | "arm64";

export interface FilterOptions {
	processor: Processor;
	/** Refuse unix sockets, too. */
	noUnixSockets: boolean;
	/** bubblewrap before 0.8 cannot forbid namespaces: then the filter does. */
	noNamespaces: boolean;
}

interface Numbers {
	/** As the kernel names the architecture. */
	audit: number;
	socket: number;
	ioctl: number;
	clone: number;
	clone3: number;
	/** Key rings, kernel modules, tracing of the kernel, asynchronous calls that no filter sees. */
	refused: readonly number[];
	/** unshare, setns and everything that mounts. */
	namespaces: readonly number[];
}

const ioUring = [425, 426, 427];
/** open_tree, move_mount, fsopen, fsconfig, fsmount, mount_setattr. */
const newMountCalls = [428, 429, 430, 431, 432, 442];

const numbers: Record<Processor, Numbers> = {
	x64: {
		audit: 0xc000003e,
		socket: 41,
		ioctl: 16,
		clone: 56,
		clone3: 435,
		// add_key request_key keyctl, bpf perf_event_open userfaultfd, kexec_load kexec_file_load, init_module finit_module delete_module
		refused: [248, 249, 250, 321, 298, 323, 246, 320, 175, 313, 176, ...ioUring],
		// unshare setns mount umount2 pivot_root
		namespaces: [272, 308, 165, 166, 155, ...newMountCalls],
	},
	arm64: {
		audit: 0xc00000b7,
		socket: 198,
		ioctl: 29,
		clone: 220,
		clone3: 435,
		refused: [217, 218, 219, 280, 241, 282, 104, 294, 105, 273, 106, ...ioUring],
		namespaces: [97, 268, 40, 39, 41, ...newMountCalls],
	},
};

const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 };
/** TIOCSTI types into a terminal, TIOCLINUX pastes into it. */
const refusedIoctls = [0x5412, 0x541c];
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const namespaceFlags = 0x7e020000;
/** Calls of the x32 interface have this bit. */
const x32 = 0x40000000;

const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfAnyBit = 0x45;
const finish = 0x06;

const allow = 0x7fff0000;
const kill = 0x80000000;
const failWith = (errno: number) => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Where the kernel puts what a rule looks at. Arguments are 64 bits, the low half first. */
const at = { number: 0, architecture: 4, argument: (index: number) => 16 + 8 * index };

interface Instruction {
	code: number;
	value: number;
	/** How many instructions to skip. */
	ifTrue?: number;
	ifFalse?: number;
}

/** Whether there is a filter for this machine. */
export const isProcessor = (name: string): name is Processor => Object.hasOwn(numbers, name);

export function seccompFilter({ processor, noUnixSockets, noNamespaces }: FilterOptions): Buffer {
	const { audit, socket, ioctl, clone, clone3, refused, namespaces } = numbers[processor];
	const allowedFamilies = Object.values(families).filter((family) => !noUnixSockets || family !== families.unix);
	const program: Instruction[] = [
		{ code: load, value: at.architecture },
		{ code: jumpIfEqual, value: audit, ifTrue: 1 },
		{ code: finish, value: kill },
		{ code: load, value: at.number },
		...(processor === "x64" ? rule(jumpIfAtLeast, x32, failWith(ENOSYS)) : []),
		...[...refused, ...(noNamespaces ? namespaces : [])].flatMap((number) => rule(jumpIfEqual, number, failWith(EPERM))),
		...(noNamespaces ? rule(jumpIfEqual, clone3, failWith(ENOSYS)) : []),
		...(noNamespaces ? forCall(clone, 0, [...rule(jumpIfAnyBit, namespaceFlags, failWith(EPERM)), { code: finish, value: allow }]) : []),
		...forCall(ioctl, 1, [...refusedIoctls.flatMap((request) => rule(jumpIfEqual, request, failWith(EPERM))), { code: finish, value: allow }]),
		...forCall(socket, 0, [
			...allowedFamilies.flatMap((family) => rule(jumpIfEqual, family, allow)),
			{ code: finish, value: failWith(EAFNOSUPPORT) },
		]),
		{ code: finish, value: allow },
	];
	const bytes = Buffer.alloc(program.length * 8);
	for (const [index, { code, value, ifTrue = 0, ifFalse = 0 }] of program.entries()) {
		bytes.writeUInt16LE(code, index * 8);
		bytes.writeUInt8(ifTrue, index * 8 + 2);
		bytes.writeUInt8(ifFalse, index * 8 + 3);
		bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
	}
	return bytes;
}

/** Ends with the answer when the comparison holds. */
function rule(code: number, value: number, answer: number): Instruction[] {
	return [
		{ code, value, ifFalse: 1 },
		{ code: finish, value: answer },
	];
}

/** For one call: looks at an argument and goes through the rules, of which the last ends in any case. */
function forCall(number: number, argument: number, rules: Instruction[]): Instruction[] {
	return [{ code: jumpIfEqual, value: number, ifFalse: rules.length + 1 }, { code: load, value: at.argument(argument) }, ...rules];
}
