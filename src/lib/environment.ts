/** Which variables of our own environment the commands we run may see. */

export interface EnvironmentPolicy {
	/** Variables that hold credentials Bowline uses. */
	secretNames: readonly string[];
	/** Names that are passed on all the same, because the user allowed them. */
	allow: readonly string[];
}

/** A host passes these to us, not to the commands we run. */
const ownNames = new Set(["BOWLINE_SETTINGS", "BOWLINE_INHERIT_FD"]);
const ownSecret = /^BOWLINE_.*(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)/;

/** The environment without our own credentials. Others (`GH_TOKEN`, `AWS_*`) stay, because commands need them. */
export function childEnvironment(parent: Record<string, string | undefined>, policy: EnvironmentPolicy): Record<string, string> {
	const { allow } = policy;
	const secretNames = setOf(policy.secretNames);
	const result: Record<string, string> = {};
	for (const name of Object.keys(parent)) {
		const hidden = secretNames.has(name) || ownNames.has(name) || ownSecret.test(name);
		if (hidden && !allow.includes(name)) continue;
		const value = parent[name];
		if (value !== undefined) result[name] = value;
	}
	return result;
}

/** Made once for a list: there are as many names as providers, and every command asks for each of its variables. */
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

function setOf(names: readonly string[]): ReadonlySet<string> {
	let set = sets.get(names);
	if (!set) {
		set = new Set(names);
		sets.set(names, set);
	}
	return set;
}

/** The variables withheld from commands, for another agent process: all except those meant for this very process. */
export function withheldEnvironment(parent: Record<string, string | undefined>, policy: EnvironmentPolicy): Record<string, string> {
	const seen = childEnvironment(parent, policy);
	const rest = Object.entries(parent).filter(([name, value]) => value !== undefined && !Object.hasOwn(seen, name) && !ownNames.has(name));
	return Object.fromEntries(rest) as Record<string, string>;
}
