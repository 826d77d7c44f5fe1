import type { ServedSandbox } from "../../sandbox/http/serve-sandbox.ts";

/** Where a sandbox is and how to log in, as ready files say it. */
export interface SandboxPlace {
  readonly url: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export function sandboxPlace({ url, credentials }: ServedSandbox): SandboxPlace {
  return {
    url,
    tokenUrl: `${url}/oauth/token`,
    clientId: credentials.clientid,
    clientSecret: "clientsecret" in credentials ? credentials.clientsecret : "",
  };
}
