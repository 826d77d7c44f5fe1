import {
  badControl,
  type ControlActions,
  type ControlPage,
  ControlRefusal,
  chosenId,
  commonActions,
  fitting,
  known,
  pagesWith,
  sentJson,
} from "../controls/control-actions.ts";
import { type Checks, isText, oneOf, parseSettings } from "../controls/settings.ts";
import type { SandboxRequest } from "../http/exchange.ts";
import type { Role } from "./records.ts";
import type { SandboxCloudFoundry } from "./sandbox-cloud-foundry.ts";
import {
  type InstanceSettings,
  parseApp,
  parseInstance,
  parseOrganization,
  parseSpace,
  parseSwitches,
  type Switches,
} from "./switches.ts";
import type { LoginRequest } from "./tokens.ts";

/** The controls for people with curl, as the help shows them. */
export const controlPages: readonly ControlPage[] = pagesWith([
  { request: "GET /sandbox/state", what: "bindings, instances, audit events, switches; no credentials" },
  { request: "PUT|DELETE /sandbox/apps/ID", what: "add or change an app; remove it with its bindings" },
  { request: "PUT /sandbox/spaces/ID", what: "add or change a space, with its quota of keys" },
  { request: "PUT /sandbox/organizations/ID", what: "the same for an organization" },
  { request: "POST /sandbox/logins", what: "a further user or client; the answer is how it logs in" },
  {
    request: "PATCH /sandbox/logins/ID",
    what: '{"role": "space-developer", "space-auditor" or "none"}: without one all looks deleted',
  },
  { request: "POST /sandbox/tokens/ID", what: "a token for a login, as where there is no UAA" },
]);

const isRole = oneOf("space-developer", "space-auditor", "none");
const loginChecks: Checks<LoginRequest> = { kind: oneOf("user", "client"), origin: isText, role: isRole };
const roleChecks: Checks<{ readonly role: Role }> = { role: isRole };

export const controlActions: ControlActions<SandboxCloudFoundry> = {
  ...commonActions<SandboxCloudFoundry, Switches, InstanceSettings>(controlPages, {
    switches: parseSwitches,
    instance: parseInstance,
  }),
  "GET state": ({ sandbox }) => stateOf(sandbox),
  "PUT apps/{id}": ({ sandbox, id, request }) =>
    sandbox.controls.putApp(fitting(parseApp(sentJson(request))), chosenId(id)),
  "DELETE apps/{id}": ({ sandbox, id }) => known(sandbox.controls.removeApp(id)),
  "PUT spaces/{id}": ({ sandbox, id, request }) =>
    sandbox.controls.putSpace(fitting(parseSpace(sentJson(request))), chosenId(id)),
  "PUT organizations/{id}": ({ sandbox, id, request }) =>
    sandbox.controls.putOrganization(fitting(parseOrganization(sentJson(request))), chosenId(id)),
  "POST logins": ({ sandbox, request }) =>
    sandbox.controls.issueLogin(
      addressOf(request),
      fitting(parseSettings<LoginRequest>(sentJson(request), loginChecks)),
    ),
  "PATCH logins/{id}"({ sandbox, id, request }) {
    const { role } = fitting(parseSettings(sentJson(request), roleChecks));
    if (role === undefined) throw badControl("role is missing");
    return known(sandbox.controls.setRole(id, role));
  },
  "POST tokens/{id}"({ sandbox, id }) {
    const token = sandbox.controls.issueToken(id);
    if (token === undefined) throw new ControlRefusal(404, "the sandbox knows nothing under this id");
    return { access_token: token };
  },
};

const addressOf = ({ headers }: SandboxRequest): string => `http://${headers.host ?? "127.0.0.1"}`;

const stateOf = (sandbox: SandboxCloudFoundry) => ({
  bindings: sandbox.liveKeys(),
  organizations: sandbox.controls.organizations(),
  spaces: sandbox.controls.spaces(),
  apps: sandbox.controls.apps(),
  instances: sandbox.controls.instances(),
  auditEvents: sandbox.auditEvents(),
  switches: sandbox.controls.switches(),
});
