/** The paths that nothing inside may read, and those that it may not write. */

/** Below the home directory: keys, tokens, histories, browsers, and the files of other agents. One row for each kind, the names without spaces. */
const hiddenByKind: Readonly<Record<string, string>> = {
	"keys, and what opens them": `
		.ssh .ssh2 .gnupg .age .config/age .config/sops .pki .putty .config/putty .yubico .config/Yubico .google_authenticator .rhosts .shosts .krb5
		.Xauthority .ICEauthority .lima/_config/user .vagrant.d .android/adbkey .appstoreconnect .minisign .signify .sigstore .step
	`,
	"stores of passwords": `
		.password-store .config/gopass .local/share/gopass .config/op .op .config/1Password .config/Bitwarden .config/rbw .local/share/rbw .cache/rbw
		.lastpass .config/lpass .local/share/lpass .config/keepassxc .cache/keepassxc .config/KeePass .keepass .config/Enpass .local/share/Enpass
		.config/dashlane-cli .local/share/keyrings .gnome2/keyrings .local/share/kwalletd .kde/share/apps/kwallet .kde4/share/apps/kwallet .vault
		.vault-token .doppler .infisical .config/infisical .akeyless .env .envrc .secrets .secret .credentials .authinfo .authinfo.gpg .smbcredentials
		.htpasswd .netrc _netrc .config/environment.d .pam_environment
	`,
	"clouds and hosting": `
		.aws .aws-sam .azure .azure-devops .config/gcloud .gcloud .gsutil .boto .oci .bluemix .aliyun .tccli .volcengine .config/yandex-cloud
		.config/doctl .linode-cli .config/linode-cli .config/hcloud .config/scw .vultr-cli.yaml .config/vultr-cli.yaml .ovh.conf .civo.json
		.config/exoscale .config/upctl.yaml .config/equinix .cf .config/heroku .heroku .fly .netlify .config/netlify .vercel .config/com.vercel.cli
		.local/share/com.vercel.cli .now .railway .render .wrangler .config/.wrangler .config/wrangler .cloudflared .config/cloudflared .cloudflare
		.config/firebase .supabase .config/supabase .planetscale .config/planetscale .config/turso .config/neonctl .config/fauna .upstash .koyeb.yaml
		.northflank .magento-cloud .platformsh .upsun-cli .serverlessrc .amplify .ask .clasprc.json .expo .shopify .config/shopify-cli-kit-nodejs
		.config/shopify-cli-store-nodejs .surgerc .deployctl .s3cfg .mc .passwd-s3fs .config/rclone .rclone.conf .dropbox .dropbox_uploader
		.config/gdrive .gdrive .config/Nextcloud .config/restic .config/borg .config/kopia .config/rustic .config/syncthing .local/state/syncthing
	`,
	"containers, clusters and provisioning": `
		.kube .minikube .config/k3d .argocd .config/argocd .rancher .config/Lens .config/helm .docker .dockercfg .config/containers/auth.json .earthly
		.config/dagger .terraformrc .terraform.d .tofurc .config/opentofu .pulumi/credentials.json .ansible_galaxy .ansible/galaxy_token .vault_pass
		.vault_pass.txt .chef .consul-token .nomad-token .boundary
	`,
	"forges, trackers and continuous integration": `
		.git-credentials .config/git/credentials .git-credential-cache .cache/git/credential .config/gh .config/glab-cli .config/hub .config/tea
		.config/lab .config/berg .jira.d .config/.jira .config/jira .config/acli .config/linear .circleci .travis .config/buildkite .config/bk.yaml
		.config/jenkins_jobs .gitlab-runner .actrc .config/act .arcrc .gerritrc .reviewboardrc .subversion/auth
	`,
	"package managers and build tools": `
		.npmrc .yarnrc .yarnrc.yml .config/pnpm/rc .bunfig.toml .pypirc .pip .config/pip .local/share/uv/credentials .config/binstar .continuum
		.gem/credentials .local/share/gem/credentials .cargo/credentials .cargo/credentials.toml .m2/settings-security.xml .gradle/gradle.properties
		.hex/hex.config .config/rebar3/hex.config .stack/upload .pause .pub-cache/credentials.json .config/dart/pub-credentials.json .cocoapods/trunk
		.luarocks/upload_config.lua .conan/.conan.db .conan2/credentials.json .nimble/github_api_token .jfrog .config/jfrog .cloudsmith
		.config/cloudsmith .julia/servers .Renviron .config/configstore .vcpkg/vcpkg.user.props
	`,
	"databases and what queries them": `
		.pgpass .pg_service.conf .my.cnf .mylogin.cnf .mysql .myclirc .usqlpass .config/usql .mongorc.js .mongoshrc.js .mongodb .redisclirc .cassandra
		.clickhouse-client .clickhouse-client.xml .influxdbv2 .odbc.ini .sqlcl .dbtools .local/share/DBeaverData .dbeaver4 .config/beekeeper-studio
		.databrickscfg .databricks .snowflake .snowsql .config/snowflake .dbt/profiles.yml .bigqueryrc .config/gspread .config/gspread_pandas
		.prefect/profiles.toml .config/neo4j-cli
	`,
	"services that programs talk to": `
		.config/stripe .twilio-cli .config/twilio-cli .sentryclirc .newrelic .dogrc .datadogrc .config/honeycomb .axiom.toml .papertrail.yml
		.pagerduty .opsgenie .config/snyk .semgrep .config/semgrep .config/ggshield .gitguardian .veracode .config/Postman .postman .config/Insomnia
		.config/httpie .httpie .curlrc .wgetrc .ngrok .ngrok2 .config/ngrok .localtunnel .config/filezilla .filezilla .lftp .local/share/lftp .davfs2
		.config/remmina .local/share/remmina .vnc .config/tigervnc .config/freerdp .config/rustdesk .anydesk
	`,
	"private networks": `
		.config/wireguard .wireguard .openvpn .config/openvpn .cisco .vpnc .config/tailscale .local/share/tailscale .zerotier-one .config/protonvpn
		.config/Proton .config/mullvad .config/nordvpn .cert
	`,
	"models, notebooks and their hubs": `
		.openai .config/openai .anthropic .config/anthropic .mistral .cohere .replicate .config/replicate .together .huggingface
		.cache/huggingface/token .cache/huggingface/stored_tokens .kaggle .config/kaggle .config/wandb .comet.config .mlflow .clearml.conf
		clearml.conf .lightning .modal.toml .runpod .lambda_cloud .vast_api_key .config/vastai .ollama/id_ed25519 .local/share/jupyter/runtime
		.jupyter/jupyter_server_config.json .jupyter/jupyter_server_config.py .jupyter/jupyter_notebook_config.json
		.jupyter/jupyter_notebook_config.py .config/io.datasette.llm .config/mods .config/shell_gpt .config/fabric .config/aichat
	`,
	"other agents and editors that hold keys": `
		.codex .claude .claude.json .config/claude .gemini .config/opencode .local/share/opencode .pi .omp .copilot .config/github-copilot .cursor
		.config/Cursor .config/cursor .cursor-server/data/User/globalStorage .continue .aider .aider.conf.yml .config/goose .local/share/goose
		.config/amp .local/share/amp .qwen .kimi .kiro .factory .codeium .windsurf .config/Windsurf .augment .cline .roo .trae .junie .crush
		.config/crush .local/share/crush .grok .vibe .openclaw .openhands .tabnine .config/TabNine .sourcegraph .config/Code/User/globalStorage
		.vscode-server/data/User/globalStorage .config/zed .local/share/zed .config/JetBrains
	`,
	"mail and chat": `
		.msmtprc .config/msmtp .mutt .muttrc .config/mutt .neomuttrc .config/neomutt .mailrc .offlineimaprc .config/offlineimap .mbsyncrc
		.config/isyncrc .fetchmailrc .getmail .config/getmail .esmtprc .config/aerc .config/himalaya .config/evolution .local/share/evolution
		.config/geary .local/share/geary .claws-mail .thunderbird Maildir .config/Slack .config/discord .config/discordcanary .config/Signal
		.config/Element .config/Mattermost .config/teams .config/skypeforlinux .zoom .local/share/TelegramDesktop .purple .weechat .config/weechat
		.local/share/weechat .irssi .config/hexchat .znc
	`,
	browsers: `
		.mozilla .librewolf .waterfox .zen .floorp .config/google-chrome .config/google-chrome-beta .config/google-chrome-unstable .config/chromium
		.config/BraveSoftware .config/microsoft-edge .config/microsoft-edge-beta .config/microsoft-edge-dev .config/vivaldi .config/opera
		.config/yandex-browser .config/qutebrowser .local/share/qutebrowser .local/share/torbrowser .local/share/epiphany .var/app snap/firefox
		snap/chromium snap/brave snap/thunderbird
	`,
	wallets: `
		.bitcoin .ethereum .electrum .monero .config/solana .foundry/keystores .aptos .sui .near-credentials .brownie/accounts
	`,
	histories: `
		.bash_history .zsh_history .zhistory .local/share/zsh/history .config/zsh/.zsh_history .histfile .sh_history .local/share/fish/fish_history
		.config/nushell/history.txt .config/nushell/history.sqlite3 .local/share/atuin .python_history .node_repl_history .ts_node_repl_history
		.bun_repl_history .irb_history .pry_history .php_history .Rhistory .octave_hist .scala_history .psql_history .mysql_history .mariadb_history
		.sqlite_history .rediscli_history .dbshell .influx_history .ipython/profile_default/history.sqlite .lesshst .viminfo
		.local/share/recently-used.xbel
	`,
};

/** The same for names with spaces, and for macOS. */
const spaced: readonly string[] = [
	".config/Bitwarden CLI",
	".config/Microsoft/Microsoft Teams",
	".config/Authy Desktop",
	"Library/Keychains",
	"Library/Cookies",
	"Library/Mail",
	"Library/Messages",
	"Library/Safari",
	"Library/Group Containers",
	"Library/Containers",
	...[
		"Google",
		"Chromium",
		"BraveSoftware",
		"Microsoft Edge",
		"Arc",
		"Firefox",
		"Thunderbird",
		"Slack",
		"discord",
		"Signal",
		"1Password",
		"Bitwarden",
	].map((name) => `Library/Application Support/${name}`),
	...["Claude", "Cursor", "Code/User/globalStorage", "com.vercel.cli", "doctl", "sops", "gh", "io.datasette.llm", "JetBrains"].map(
		(name) => `Library/Application Support/${name}`,
	),
];

export const hiddenInHome: readonly string[] = [...Object.values(hiddenByKind).flatMap((names) => names.trim().split(/\s+/)), ...spaced];

/**
 * Files of the home that hold credentials and that programs insist on reading: a build would end where one cannot be read. So an empty one is seen in
 * its place.
 */
export const emptiedInHome: Readonly<Record<string, string>> = {
	".m2/settings.xml": "<settings/>\n",
	".nuget/NuGet/NuGet.Config": "<configuration/>\n",
	".config/NuGet/NuGet.Config": "<configuration/>\n",
	".composer/auth.json": "{}\n",
	".config/composer/auth.json": "{}\n",
	".config/turborepo/config.json": "{}\n",
	".bundle/config": "---\n",
	".config/pypoetry/auth.toml": "",
	".config/coursier/credentials.properties": "",
	".sbt/.credentials": "",
	".ivy2/.credentials": "",
};

/** Variables that say where programs find such a place instead, each with the name that it has in the home otherwise. More than one path may stand in it. */
export const movedByVariable: Readonly<Record<string, string>> = {
	XDG_CONFIG_HOME: ".config",
	XDG_DATA_HOME: ".local/share",
	XDG_STATE_HOME: ".local/state",
	XDG_CACHE_HOME: ".cache",
	AWS_CONFIG_FILE: ".aws",
	AWS_SHARED_CREDENTIALS_FILE: ".aws",
	AZURE_CONFIG_DIR: ".azure",
	BOTO_CONFIG: ".boto",
	BUNDLE_USER_CONFIG: ".bundle/config",
	CARGO_HOME: ".cargo",
	CLAUDE_CONFIG_DIR: ".claude",
	CLOUDSDK_CONFIG: ".config/gcloud",
	CODEX_HOME: ".codex",
	COMPOSER_HOME: ".config/composer",
	DATABRICKS_CONFIG_FILE: ".databrickscfg",
	DBT_PROFILES_DIR: ".dbt",
	DOCKER_CONFIG: ".docker",
	GH_CONFIG_DIR: ".config/gh",
	GNUPGHOME: ".gnupg",
	GOOGLE_APPLICATION_CREDENTIALS: ".config/gcloud",
	HELM_CONFIG_HOME: ".config/helm",
	HELM_REGISTRY_CONFIG: ".config/helm",
	HF_HOME: ".cache/huggingface",
	HF_TOKEN_PATH: ".cache/huggingface/token",
	HISTFILE: ".bash_history",
	KAGGLE_CONFIG_DIR: ".kaggle",
	KUBECONFIG: ".kube",
	MYSQL_TEST_LOGIN_FILE: ".mylogin.cnf",
	NETRC: ".netrc",
	NPM_CONFIG_USERCONFIG: ".npmrc",
	npm_config_userconfig: ".npmrc",
	OCI_CLI_CONFIG_FILE: ".oci",
	PASSWORD_STORE_DIR: ".password-store",
	PGPASSFILE: ".pgpass",
	PGSERVICEFILE: ".pg_service.conf",
	PIP_CONFIG_FILE: ".config/pip",
	PULUMI_HOME: ".pulumi",
	RCLONE_CONFIG: ".config/rclone",
	REGISTRY_AUTH_FILE: ".config/containers/auth.json",
	SOPS_AGE_KEY_FILE: ".config/sops",
	TF_CLI_CONFIG_FILE: ".terraformrc",
};

/** For root only: other users cannot read them anyway. Names in /etc that begin with these. */
export const hiddenForRoot: readonly string[] = ["shadow", "gshadow", "sudoers", "ssh"];

/** Of the user directory, what the model is told to read. */
export const shownInUserDirectory: readonly string[] = ["skills", "prompts"];

/** In /proc: a write there reaches the whole machine. */
export const guardedInProc: readonly string[] = ["sys", "sysrq-trigger", "mtrr", "irq", "bus", "acpi", "scsi"];
