/** Whether a cloud is set up, as far as the environment and the presence of files tell. Asks no network and reads no file. */
import { existsSync } from "node:fs";
import type { Cloud, Environment } from "../routes.ts";
import { awsPaths, defaultFile, projectIn } from "./places.ts";

/** Names what configures the cloud explicitly for this process. If there is something, its models are listed. */
export function cloudOrigin(cloud: Cloud, env: Environment): string | undefined {
	switch (cloud) {
		case "aws":
			if (env.AWS_ACCESS_KEY_ID && env.AWS_SECRET_ACCESS_KEY) return "AWS_ACCESS_KEY_ID";
			if (env.AWS_WEB_IDENTITY_TOKEN_FILE && env.AWS_ROLE_ARN) return "AWS_WEB_IDENTITY_TOKEN_FILE";
			return ["AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"].find((name) => env[name]);
		case "google": {
			if (env.GOOGLE_APPLICATION_CREDENTIALS) return "GOOGLE_APPLICATION_CREDENTIALS";
			const file = defaultFile(env);
			return projectIn(env) && file && existsSync(file) ? file : undefined;
		}
		case "azure":
			if (!env.AZURE_OPENAI_BASE_URL && !env.AZURE_OPENAI_ENDPOINT && !env.AZURE_OPENAI_RESOURCE_NAME) return undefined;
			if (env.AZURE_TENANT_ID && env.AZURE_CLIENT_ID) return "AZURE_CLIENT_ID";
			return "Entra ID";
	}
}

/** A file that may serve a cloud that is not set up for this process: its models work when the user names one. */
export function cloudHint(cloud: Cloud, env: Environment): string | undefined {
	if (cloud === "azure" || cloudOrigin(cloud, env) !== undefined) return undefined;
	const { credentials, config } = awsPaths(env);
	const files = cloud === "aws" ? [credentials, config] : [defaultFile(env)];
	return files.find((file) => file !== undefined && existsSync(file));
}
