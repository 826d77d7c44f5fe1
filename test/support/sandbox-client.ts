import type { SandboxPlace } from "../../src/cli/sandbox/sandbox-place.ts";
import { ControlledSandbox, grantedToken } from "./controlled-sandbox.ts";

/** A person with curl at a sandbox Service Manager. */
export class SandboxClient extends ControlledSandbox {
  readonly #place: SandboxPlace;

  constructor(place: SandboxPlace) {
    super(place.url);
    this.#place = place;
  }

  token(): Promise<string> {
    const { tokenUrl, clientId, clientSecret } = this.#place;
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    return grantedToken(tokenUrl, { body: new URLSearchParams(form) });
  }
}
