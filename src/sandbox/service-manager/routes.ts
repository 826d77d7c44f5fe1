import type { SandboxRequest, SandboxResponse } from "../http/exchange.ts";
import { idsIn } from "../http/path-pattern.ts";
import { getOffering, getPlan } from "./catalog.ts";
import { changeBinding } from "./change-binding.ts";
import { createBinding } from "./create-binding.ts";
import { deleteBinding } from "./delete-binding.ts";
import { getBinding, getInstance, getOperation, getParameters, listBindings, listInstances } from "./read-resources.ts";
import { issueToken } from "./tokens.ts";
import type { SandboxWorld } from "./world.ts";

interface Call {
  readonly world: SandboxWorld;
  readonly request: SandboxRequest;
  /** What stands in the path for `{…}`, in order. */
  readonly ids: readonly string[];
}

type Handler = (call: Call) => SandboxResponse | Promise<SandboxResponse>;

interface Route {
  readonly pattern: string;
  readonly isPublic?: true;
  readonly methods: Readonly<Record<string, Handler>>;
}

const routes: readonly Route[] = [
  { pattern: "/oauth/token", isPublic: true, methods: { POST: ({ world, request }) => issueToken(world, request) } },
  {
    pattern: "/v1/service_bindings",
    methods: {
      GET: ({ world, request }) => listBindings(world, request),
      POST: ({ world, request }) => createBinding(world, request),
    },
  },
  {
    pattern: "/v1/service_bindings/{id}",
    methods: {
      GET: ({ world, ids: [id = ""] }) => getBinding(world, id),
      PATCH: ({ world, request, ids: [id = ""] }) => changeBinding(world, id, request),
      DELETE: ({ world, request, ids: [id = ""] }) => deleteBinding(world, id, request),
    },
  },
  {
    pattern: "/v1/service_bindings/{id}/parameters",
    methods: { GET: ({ world, ids: [id = ""] }) => getParameters(world, id) },
  },
  {
    pattern: "/v1/service_bindings/{id}/operations/{operation}",
    methods: { GET: ({ world, ids: [id = "", operation = ""] }) => getOperation(world, id, operation) },
  },
  { pattern: "/v1/service_instances", methods: { GET: ({ world, request }) => listInstances(world, request) } },
  {
    pattern: "/v1/service_instances/{id}",
    methods: { GET: ({ world, ids: [id = ""] }) => getInstance(world, id) },
  },
  { pattern: "/v1/service_plans/{id}", methods: { GET: ({ world, ids: [id = ""] }) => getPlan(world, id) } },
  { pattern: "/v1/service_offerings/{id}", methods: { GET: ({ world, ids: [id = ""] }) => getOffering(world, id) } },
];

export interface Matched {
  readonly pattern: string;
  readonly isPublic: boolean;
  /** Absent where the path knows no such method. */
  readonly handle?: (world: SandboxWorld, request: SandboxRequest) => SandboxResponse | Promise<SandboxResponse>;
}

export function matchRoute({ method, path }: Pick<SandboxRequest, "method" | "path">): Matched | undefined {
  for (const { pattern, isPublic = false, methods } of routes) {
    const ids = idsIn(pattern, path);
    if (!ids) continue;
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    const matched = { pattern, isPublic };
    return handler ? { ...matched, handle: (world, request) => handler({ world, request, ids }) } : matched;
  }
  return undefined;
}
