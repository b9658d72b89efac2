/** picomatch ships no types; this is the part that is used. */
declare module "picomatch" {
	export default function picomatch(glob: string, options?: { dot?: boolean; nonegate?: boolean }): (path: string) => boolean;
}
