import type { SandboxRequest, SandboxResponse } from "../http/exchange.ts";
import { idsIn } from "../http/path-pattern.ts";
import type { Handler } from "./call.ts";
import { changeBinding, deleteBinding } from "./change-binding.ts";
import { createBinding } from "./create-binding.ts";
import { discover } from "./discovery.ts";
import { getJob } from "./jobs.ts";
import { getBinding, getDetails, getParameters, listBindings } from "./read-bindings.ts";
import { apps, getOffering, getPlan, instances, organizations, spaces } from "./read-resources.ts";
import { issueTokens } from "./tokens.ts";
import type { CloudFoundryWorld } from "./world.ts";

type OpenHandler = (world: CloudFoundryWorld, request: SandboxRequest) => SandboxResponse;

interface Route {
  readonly pattern: string;
  /** Needs a token. */
  readonly methods?: Readonly<Record<string, Handler>>;
  /** Needs none. */
  readonly open?: Readonly<Record<string, OpenHandler>>;
  readonly isOfUaa?: true;
}

const BINDINGS = "/v3/service_credential_bindings";

const routes: readonly Route[] = [
  { pattern: "/", open: { GET: discover } },
  { pattern: "/uaa/oauth/token", isOfUaa: true, open: { POST: issueTokens } },
  { pattern: "/login/oauth/token", isOfUaa: true, open: { POST: issueTokens } },
  { pattern: BINDINGS, methods: { GET: listBindings, POST: createBinding } },
  { pattern: `${BINDINGS}/{guid}`, methods: { GET: getBinding, PATCH: changeBinding, DELETE: deleteBinding } },
  { pattern: `${BINDINGS}/{guid}/details`, methods: { GET: getDetails } },
  { pattern: `${BINDINGS}/{guid}/parameters`, methods: { GET: getParameters } },
  { pattern: "/v3/jobs/{guid}", methods: { GET: getJob } },
  { pattern: "/v3/service_instances", methods: { GET: instances.list } },
  { pattern: "/v3/service_instances/{guid}", methods: { GET: instances.get } },
  { pattern: "/v3/service_plans/{guid}", methods: { GET: getPlan } },
  { pattern: "/v3/service_offerings/{guid}", methods: { GET: getOffering } },
  { pattern: "/v3/organizations", methods: { GET: organizations.list } },
  { pattern: "/v3/organizations/{guid}", methods: { GET: organizations.get } },
  { pattern: "/v3/spaces", methods: { GET: spaces.list } },
  { pattern: "/v3/spaces/{guid}", methods: { GET: spaces.get } },
  { pattern: "/v3/apps", methods: { GET: apps.list } },
  { pattern: "/v3/apps/{guid}", methods: { GET: apps.get } },
];

export interface Matched {
  readonly pattern: string;
  readonly ids: readonly string[];
  readonly isOfUaa: boolean;
  /** One of the two, where the path knows the method. */
  readonly handler?: Handler;
  readonly open?: OpenHandler;
}

export function matchRoute({ method, path }: Pick<SandboxRequest, "method" | "path">): Matched | undefined {
  for (const { pattern, methods = {}, open = {}, isOfUaa = false } of routes) {
    const ids = idsIn(pattern, path);
    if (!ids) continue;
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    const openHandler = Object.hasOwn(open, method) ? open[method] : undefined;
    return { pattern, ids, isOfUaa, ...(handler && { handler }), ...(openHandler && { open: openHandler }) };
  }
  return undefined;
}
