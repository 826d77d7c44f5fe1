import { UsageError } from "../base/errors.ts";
import { type BindAddress, parseBindAddress } from "../runtime/http-endpoints.ts";
import type { Flags, OptionSpec } from "./command.ts";

/** The flags with which an operator serves the dashboard. Apart from what serves it, which is loaded only then. */
export const operatorDashboardOptions: readonly OptionSpec[] = [
  {
    name: "dashboard-bind",
    value: "ADDRESS",
    description: "Where the dashboard is served, to those whom the cluster knows by their token; 0 switches it off.",
    default: "0",
  },
  {
    name: "dashboard-changes",
    description: "Let the dashboard rotate and freeze what its viewer may patch; else it only shows.",
  },
  {
    name: "dashboard-host",
    value: "NAMES",
    description: "Names under which it may be asked for, separated by commas, beside loopback and its Service.",
    default: "",
  },
  { name: "dashboard-tls-cert", value: "FILE", description: "Its certificate, with the chain; else plain HTTP." },
  { name: "dashboard-tls-key", value: "FILE", description: "The key of that certificate." },
];

export interface OperatorDashboardCall {
  readonly bind: BindAddress;
  readonly mayChange: boolean;
  readonly hostNames: readonly string[];
  readonly tls: { readonly certificate: string; readonly key: string } | undefined;
}

const HOST_NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Undefined: it is off. */
export function readOperatorDashboard(flags: Flags): OperatorDashboardCall | undefined {
  const bind = parseBindAddress(flags.text("dashboard-bind") ?? "0");
  const [certificate, key] = [flags.text("dashboard-tls-cert"), flags.text("dashboard-tls-key")];
  if ((certificate === undefined) !== (key === undefined)) {
    throw new UsageError("--dashboard-tls-cert and --dashboard-tls-key are given together, or not at all");
  }
  const names = (flags.text("dashboard-host") ?? "").toLowerCase().split(",");
  const hostNames = names.map((name) => name.trim()).filter((name) => name !== "");
  const wrong = hostNames.find((name) => !HOST_NAME.test(name));
  if (wrong !== undefined)
    throw new UsageError(`--dashboard-host: "${wrong}" is not the name of a host, without a port`);
  if (!bind) return undefined;
  const tls = certificate !== undefined && key !== undefined ? { certificate, key } : undefined;
  return { bind, mayChange: flags.isOn("dashboard-changes"), hostNames, tls };
}
