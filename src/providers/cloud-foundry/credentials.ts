import { Redacted } from "../../base/redacted.ts";
import {
  checkedUrl,
  missingKey,
  type ReadField,
  readSecret,
  type SecretForm,
  unusable,
} from "../rest/secret-fields.ts";

/** What it takes to log in to one Cloud Foundry. */
export interface CloudFoundryCredentials {
  /** Without a slash at the end. */
  readonly apiUrl: string;
  readonly login: CloudFoundryLogin;
  /** Whoever answers is believed: only because a user has said so. */
  readonly skipTlsVerification: boolean;
}

type CloudFoundryLogin =
  | {
      readonly kind: "user";
      readonly username: string;
      readonly password: Redacted<string>;
      /** The identity provider that knows the user, where it is not the foundation itself. */
      readonly origin?: string;
    }
  | { readonly kind: "client"; readonly clientId: string; readonly clientSecret: Redacted<string> }
  /** Made elsewhere, for foundations without a UAA. */
  | { readonly kind: "token"; readonly token: Redacted<string> };

export interface CredentialsSource {
  /** The key of the Secret that holds a JSON object; without it the whole Secret counts. */
  readonly key?: string;
  /** Where the API is, unless the Secret says it. */
  readonly apiUrl?: string;
  /** Where the user is known, unless the Secret says it. */
  readonly origin?: string;
  readonly skipTlsVerification?: boolean;
}

/** The first that is there counts: the Crossplane provider logs in with the mail address, whatever stands beside it. */
const USER_KEYS = ["email", "username", "user"];
const CLIENT_KEYS = ["client_id", "clientid", "clientId"];
const CLIENT_SECRET_KEYS = ["client_secret", "clientsecret", "clientSecret"];
const API_KEYS = ["api_endpoint", "apiEndpoint", "api_url", "endpoint"];
const FORM: SecretForm = {
  what: "the Cloud Foundry credentials",
  tellingKeys: [...USER_KEYS, ...CLIENT_KEYS, "token"],
};

/**
 * Reads the content of a credential Secret, decoded from base64: a user with a password, a client with a secret, or a
 * token. Mistakes name a key and never show a value.
 */
export function parseCloudFoundryCredentials(
  secretData: Redacted<Readonly<Record<string, string>>>,
  source: CredentialsSource = {},
): CloudFoundryCredentials {
  const read = readSecret(FORM, secretData.reveal(), source.key);
  const [apiKey = API_KEYS[0]] = API_KEYS.filter((key) => read(key) !== undefined);
  const stated = source.apiUrl ?? read(apiKey ?? "");
  if (stated === undefined) throw unusable(FORM, "neither the ProviderConfig nor the Secret says where the API is");
  return {
    apiUrl: checkedUrl(FORM, source.apiUrl === undefined ? `the key ${apiKey}` : "apiEndpoint", withScheme(stated)),
    login: readLogin(read, source.origin),
    skipTlsVerification: source.skipTlsVerification ?? false,
  };
}

/** `cf api` takes a bare host name too. */
const withScheme = (value: string): string =>
  /^[a-z0-9.-]+(:\d+)?\/?$/i.test(value.trim()) ? `https://${value.trim()}` : value.trim();

function readLogin(read: ReadField, usualOrigin: string | undefined): CloudFoundryLogin {
  const first = (keys: readonly string[]): string | undefined => keys.map(read).find((value) => value !== undefined);
  const username = first(USER_KEYS);
  if (username !== undefined) {
    const password = read("password");
    if (password === undefined) throw missingKey(FORM, "password");
    const origin = read("origin") ?? usualOrigin;
    return { kind: "user", username, password: new Redacted(password), ...(origin !== undefined && { origin }) };
  }
  const clientId = first(CLIENT_KEYS);
  if (clientId !== undefined) {
    const clientSecret = first(CLIENT_SECRET_KEYS);
    if (clientSecret === undefined) throw missingKey(FORM, CLIENT_SECRET_KEYS[0] ?? "");
    return { kind: "client", clientId, clientSecret: new Redacted(clientSecret) };
  }
  const token = read("token");
  if (token === undefined) throw missingKey(FORM, "username, client_id or token");
  if (!/^[\x21-\x7e]+$/.test(token)) throw unusable(FORM, "the value of the key token is not a token");
  return { kind: "token", token: new Redacted(token) };
}
