/** The end of a reply that a rule cut. Separate from the matcher, which is loaded only if there are rules. */
export function cutText(rules: readonly { name: string }[]): string {
	return `Interrupted by stream rule: ${rules.map(({ name }) => name).join(", ")}`;
}
