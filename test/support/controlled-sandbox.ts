export interface SandboxAnswer {
  readonly status: number;
  /** Of the job or operation that an accepted request is answered with. */
  readonly location: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A person with curl at a sandbox that runs as a process of its own, whatever it stands in for. */
export abstract class ControlledSandbox {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** A token of a client's own. */
  abstract token(): Promise<string>;

  /** A control under `/sandbox/`. */
  control(method: string, path: string, json?: unknown): Promise<SandboxAnswer> {
    return this.send(method, `/sandbox/${path}`, { json });
  }

  /** A request as a client of the API, with a token of its own; a path, or a link that was given. */
  async call(method: string, path: string, json?: unknown): Promise<SandboxAnswer> {
    return this.send(method, path, { json, authorization: `Bearer ${await this.token()}` });
  }

  /** Names of the keys that exist. */
  async keys(): Promise<readonly string[]> {
    const { body } = await this.control("GET", "state");
    return (body.bindings as readonly { readonly name: string }[]).map(({ name }) => name);
  }

  /** Whether somebody could log in with these credentials now. */
  async lets(credentials: unknown): Promise<boolean> {
    return (await this.control("POST", "authenticate", credentials)).body.works === true;
  }

  protected async send(
    method: string,
    path: string,
    { json, authorization }: { readonly json?: unknown; readonly authorization?: string },
  ): Promise<SandboxAnswer> {
    const answer = await fetch(path.startsWith("http") ? path : this.#url + path, {
      method,
      headers: { "content-type": "application/json", ...(authorization !== undefined && { authorization }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const text = await answer.text();
    return { status: answer.status, location: answer.headers.get("location") ?? "", body: JSON.parse(text || "{}") };
  }
}

/** The token that a token endpoint gives out. */
export async function grantedToken(url: string, init: RequestInit): Promise<string> {
  const answer = await fetch(url, { method: "POST", ...init });
  if (answer.status !== 200) throw new Error(`no token: ${answer.status}`);
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };
  return token;
}
