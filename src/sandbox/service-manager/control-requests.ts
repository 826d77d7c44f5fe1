import {
  badControl,
  type ControlActions,
  type ControlPage,
  commonActions,
  known,
  pagesWith,
  sentJson,
} from "../controls/control-actions.ts";
import { isObject, type SandboxRequest } from "../http/exchange.ts";
import type { ClientPlan, InstanceRecord } from "./records.ts";
import type { LiveBinding, PendingCreate, SandboxServiceManager } from "./sandbox-service-manager.ts";
import { type InstanceSettings, parseInstanceSettings, parseSwitches, type Switches } from "./switches.ts";

/** The controls for people with curl, as the help shows them. */
export const controlPages: readonly ControlPage[] = pagesWith([
  { request: "GET /sandbox/state", what: "bindings, pending creates, instances, switches; no credentials" },
  {
    request: "POST /sandbox/clients",
    what: "a further client, of a plan or a certificate (PEM); the answer is its credentials",
  },
  { request: "PATCH /sandbox/clients/ID", what: '{"plan": "subaccount-admin" or "service-operator-access"}' },
]);

export const controlActions: ControlActions<SandboxServiceManager> = {
  ...commonActions<SandboxServiceManager, Switches, InstanceSettings>(controlPages, {
    switches: parseSwitches,
    instance: parseInstanceSettings,
  }),
  "GET state": ({ sandbox }) => stateOf(sandbox),
  "POST clients"({ sandbox, request }) {
    const url = `http://${request.headers.host ?? "127.0.0.1"}`;
    return sandbox.controls.issueClient(url, {
      ...certificateIn(request),
      plan: planIn(request) ?? "subaccount-admin",
    });
  },
  "PATCH clients/{id}"({ sandbox, id, request }) {
    const plan = planIn(request);
    if (!plan) throw badPlan();
    return known(sandbox.controls.setClientPlan(id, plan));
  },
};

interface SandboxState {
  readonly bindings: readonly LiveBinding[];
  readonly pendingCreates: readonly PendingCreate[];
  readonly instances: readonly InstanceRecord[];
  readonly switches: object;
}

function stateOf(sandbox: SandboxServiceManager): SandboxState {
  return {
    bindings: sandbox.liveBindings(),
    pendingCreates: sandbox.pendingCreates(),
    instances: sandbox.controls.instances(),
    switches: sandbox.controls.switches(),
  };
}

const badPlan = () => badControl("plan is subaccount-admin or service-operator-access");

function planIn(request: SandboxRequest): ClientPlan | undefined {
  const value = sentJson(request);
  const plan = isObject(value) ? value.plan : undefined;
  if (plan !== undefined && plan !== "subaccount-admin" && plan !== "service-operator-access") throw badPlan();
  return plan;
}

function certificateIn(request: SandboxRequest): { readonly certificate?: string } {
  const value = sentJson(request);
  const certificate = isObject(value) ? value.certificate : undefined;
  if (certificate === undefined) return {};
  if (typeof certificate !== "string" || !certificate.startsWith("-----BEGIN CERTIFICATE-----")) {
    throw badControl("certificate is a certificate in PEM form");
  }
  return { certificate };
}
