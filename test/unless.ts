/** Groups and tests that need something a machine may lack. Their titles end with the reason, which the last lines of a CI run count. */
import { describe, test } from "vitest";

/** The reason for leaving tests out, or undefined if they can run. */
export type Missing = string | false | undefined;

type Rest<T> = [options: { timeout?: number }, body: T] | [body: T, timeout?: number];

const titleOf = (name: string, missing: Missing) => (missing ? `${name} (left out: ${missing})` : name);

/** Declares a group that is skipped if something is missing. */
export const describeUnless =
	(missing: Missing) =>
	(name: string, ...rest: Rest<() => void>): void =>
		void describe.skipIf(missing)(titleOf(name, missing), ...(rest as [() => void]));

/** Declares a test that is skipped if something is missing. */
export const testUnless =
	(missing: Missing) =>
	(name: string, ...rest: Rest<() => void | Promise<void>>): void =>
		void test.skipIf(missing)(titleOf(name, missing), ...(rest as [() => void]));
