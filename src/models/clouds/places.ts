/** Where the tools of the clouds keep their files, and which project they mean. Light: it is loaded with every provider. */
import { join } from "node:path";
import type { Environment } from "../routes.ts";

/** The user's home directory, from the environment alone. */
const homeOf = (env: Environment) => env.HOME || env.USERPROFILE || undefined;

/** Amazon's shared files. */
export function awsPaths(env: Environment): { config?: string; credentials?: string; ssoCache?: string } {
	const home = homeOf(env);
	const inHome = (name: string) => (home ? join(home, ".aws", name) : undefined);
	return {
		config: env.AWS_CONFIG_FILE || inHome("config"),
		credentials: env.AWS_SHARED_CREDENTIALS_FILE || inHome("credentials"),
		ssoCache: inHome(join("sso", "cache")),
	};
}

/** The directory of gcloud's own files. */
export function gcloudDirectory(env: Environment): string | undefined {
	const home = homeOf(env);
	return env.CLOUDSDK_CONFIG || (env.APPDATA ? join(env.APPDATA, "gcloud") : home && join(home, ".config", "gcloud"));
}

/** Where `gcloud auth application-default login` leaves credentials. */
export function defaultFile(env: Environment): string | undefined {
	const directory = gcloudDirectory(env);
	return directory && join(directory, "application_default_credentials.json");
}

export const projectIn = (env: Environment) => env.GOOGLE_CLOUD_PROJECT || env.GCLOUD_PROJECT || env.ANTHROPIC_VERTEX_PROJECT_ID || undefined;
