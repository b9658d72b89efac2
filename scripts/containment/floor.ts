/** What `--contained` does not hold, by the names of case and effect. Anything else that gets out is a step back. */
export const notContained: readonly string[] = [
	"file next to the home: srv/backup.txt",
	".env in the history: .env of a commit",
	"key file of the project: secrets/service-account.json",
	"later: script that the package names: ran",
	"later: test file: ran",
	"later: shell script of the project: ran",
	"later: installed package, which git ignores: ran",
	"later: program among the installed ones: ran",
	"later: built file, which git ignores: ran",
	"git: repository deep in ignored folders: ran",
	"destroyed: folder opened to everybody: mode changed",
];
