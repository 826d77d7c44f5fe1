import { jsonAnswer, type SandboxRequest, type SandboxResponse } from "../http/exchange.ts";
import { linker } from "./call.ts";
import type { CloudFoundryWorld } from "./world.ts";

/** `GET /`: where the parts of the foundation are. Nobody needs to log in for it. */
export function discover(world: CloudFoundryWorld, request: SandboxRequest): SandboxResponse {
  const link = linker({ world, request });
  const hasUaa = world.switches.uaa === "present";
  return jsonAnswer(200, {
    links: {
      self: link(""),
      cloud_controller_v2: null,
      cloud_controller_v3: { ...link("/v3"), meta: { version: "3.180.0" } },
      network_policy_v0: null,
      login: hasUaa ? link("/login") : null,
      uaa: hasUaa ? link("/uaa") : null,
      credhub: null,
      routing: null,
      logging: null,
      log_cache: null,
      app_ssh: null,
    },
    ...(!hasUaa && { cf_on_k8s: true }),
  });
}
