/** A file of the page, bundled for the browser and handed over as text. `scripts/inline.mjs` does it. */
declare module "*?bundle" {
	const text: string;
	export default text;
}
