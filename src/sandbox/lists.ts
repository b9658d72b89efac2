/** The paths that nothing inside may read, and those that it may not write. */
import { openedByPrograms } from "../lib/protected-names.ts";

/** Below the home directory: keys, tokens, histories, browsers, and the files of other agents. */
export const hiddenInHome: readonly string[] = `
.ssh .gnupg .aws .azure .oci .kube .docker .config/gcloud .config/gh .config/glab-cli .config/hub .config/op .config/rclone .config/doctl
.config/heroku .config/configstore .netrc .git-credentials .config/git/credentials .npmrc .yarnrc .yarnrc.yml .pypirc .gem/credentials
.cargo/credentials .cargo/credentials.toml .terraformrc .terraform.d .vault-token .pgpass .my.cnf .s3cfg .boto .databrickscfg .fly .netlify
.vercel .wrangler .password-store .local/share/keyrings .local/share/kwalletd .mozilla .thunderbird .config/google-chrome .config/chromium
.config/BraveSoftware .config/microsoft-edge .config/Slack .config/discord .bash_history .zsh_history .python_history .node_repl_history
.psql_history .mysql_history .codex .claude .claude.json .gemini .config/opencode .local/share/opencode .pi .omp
`
	.trim()
	.split(/\s+/);

/** For root only: other users cannot read them anyway. Names in /etc that begin with these. */
export const hiddenForRoot: readonly string[] = ["shadow", "gshadow", "sudoers", "ssh"];

/** Of the user directory, what the model is told to read. */
export const shownInUserDirectory: readonly string[] = ["skills", "prompts"];

/** In every root, where they exist: programs run them when a folder is opened. */
export const protectedNames: readonly string[] = openedByPrograms;

/** In /proc: a write there reaches the whole machine. */
export const guardedInProc: readonly string[] = ["sys", "sysrq-trigger", "mtrr", "irq", "bus", "acpi", "scsi"];
