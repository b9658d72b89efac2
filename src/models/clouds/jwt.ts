/** JSON Web Tokens signed with an RSA key: how a service account or an application with a certificate proves who it is. */
import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { CloudError } from "./cloud.ts";

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** `what` names the place of the key; its content is never shown. */
export function signedJwt(header: object, claims: object, pem: string, what: string): string {
	let key: KeyObject;
	try {
		key = createPrivateKey(pem);
	} catch {
		throw new CloudError(`${what} does not hold a private key that can be read`);
	}
	const text = `${base64url({ alg: "RS256", typ: "JWT", ...header })}.${base64url(claims)}`;
	return `${text}.${sign("RSA-SHA256", Buffer.from(text), key).toString("base64url")}`;
}
