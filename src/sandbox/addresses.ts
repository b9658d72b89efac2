/** Which hosts a connection may name, and which addresses are not on the public network. */
import { BlockList, isIPv4, isIPv6 } from "node:net";

export interface Authority {
	/** In lower case, without a dot at the end; an IPv6 address without brackets. */
	host: string;
	port: number;
	/** The host is an address. */
	isAddress: boolean;
}

/** Reads `host:port`. Nothing for any spelling but the plain one: it is refused before it is compared with anything. */
export function authorityOf(text: string): Authority | undefined {
	const [, bracketed, plain, digits = ""] = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{1,254})):([1-9][0-9]{0,4})$/.exec(text) ?? [];
	const port = Number(digits);
	if (digits === "" || port > 65535) return undefined;
	if (bracketed !== undefined) return isCanonicalV6(bracketed) ? { host: bracketed, port, isAddress: true } : undefined;
	const host = (plain ?? "").toLowerCase().replace(/\.$/, "");
	if (isIPv4(host)) return host === plain ? { host, port, isAddress: true } : undefined;
	const labels = host.split(".");
	const isName = host.length <= 253 && labels.every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label));
	// Resolvers read `127.1` and `0x7f.1` as addresses: a name does not end in a number.
	return isName && !/^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) as string) ? { host, port, isAddress: false } : undefined;
}

/** The same in the spelling of rules. */
export const targetOf = ({ host, port }: Authority) => `${host.includes(":") ? `[${host}]` : host}:${port}`;

function isCanonicalV6(text: string): boolean {
	if (!isIPv6(text)) return false;
	try {
		return new URL(`http://[${text}]/`).hostname === `[${text}]`;
	} catch {
		return false;
	}
}

// Two lists: one for both would find every IPv4 address in the mapped forms of IPv6.
const closedV4 = new BlockList();
const closedV6 = new BlockList();
for (const [net, bits] of [
	["0.0.0.0", 8],
	["10.0.0.0", 8],
	["100.64.0.0", 10],
	["127.0.0.0", 8],
	["169.254.0.0", 16],
	["172.16.0.0", 12],
	["192.0.0.0", 24],
	["192.168.0.0", 16],
	["198.18.0.0", 15],
	["224.0.0.0", 3],
] as const)
	closedV4.addSubnet(net, bits, "ipv4");
for (const [net, bits] of [
	["::", 96],
	["::1", 128],
	["fc00::", 7],
	["fe80::", 10],
	["fec0::", 10],
	["ff00::", 8],
	// Forms that contain an IPv4 address: mapped, translated, 6to4, Teredo.
	["::ffff:0:0", 96],
	["::ffff:0:0:0", 96],
	["64:ff9b::", 96],
	["64:ff9b:1::", 48],
	["2002::", 16],
	["2001::", 32],
] as const)
	closedV6.addSubnet(net, bits, "ipv6");

/** Loopback, private, link-local, multicast, unspecified, and forms of IPv6 that lead to an IPv4 address. */
export const isClosedAddress = (address: string) => (isIPv6(address) ? closedV6.check(address, "ipv6") : closedV4.check(address, "ipv4"));
