/** What a reply that a rule cut ends with. Apart from the matcher, which is only loaded where there are rules. */
export function cutText(rules: readonly { name: string }[]): string {
	return `Interrupted by stream rule: ${rules.map(({ name }) => name).join(", ")}`;
}
