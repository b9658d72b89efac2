/** Turns the schema of a prompt into the answer it requires. Loaded with the first such prompt. */
import { validateArguments } from "../agent/validate.ts";
import { problemWithSchema, requiredAnswer } from "../answers/required-answer.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { RequiredAnswer } from "../session/required-answer.ts";

export async function requireAnswer(schema: Record<string, unknown>): Promise<RequiredAnswer> {
	const problem = await problemWithSchema({ schema, validate: validateArguments });
	if (problem !== undefined) throw new CommandError("bad_field", `outputSchema: ${problem}`);
	return requiredAnswer({ schema, validate: validateArguments, now: Date.now });
}
