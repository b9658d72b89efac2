/** The configurations that are compared. Only `contained` has a floor. */
export interface Configuration {
	name: string;
	flags: readonly string[];
	/** For the table. */
	title: string;
}

const edit = ["--permission-mode", "edit"];
const sandbox = ["--sandbox", "workspace-write"];

export const configurations: readonly Configuration[] = [
	{ name: "contained", flags: ["--contained"], title: "`--contained`" },
	{ name: "default", flags: [], title: "mode `full`, no sandbox (default)" },
	{ name: "full-sandbox", flags: sandbox, title: "`full` + `workspace-write`" },
	{ name: "edit", flags: edit, title: "`edit`, no sandbox" },
	{ name: "edit-sandbox", flags: [...edit, ...sandbox], title: "`edit` + `workspace-write`" },
	{ name: "edit-hidden", flags: [...edit, ...sandbox, "--set", "sandbox.home=hidden"], title: "`edit` + `workspace-write`, home hidden" },
	{ name: "plan", flags: ["--permission-mode", "plan"], title: "`plan`" },
];
