import type { Command } from "./command.ts";
import { DEMO_PACE, operatorOptions } from "./operator-options.ts";
import { readyFileOption } from "./ready-file.ts";

export const upCommand: Command = {
  name: "up",
  summary:
    "Try it here: an embedded Kubernetes API, a sandbox Service Manager and Cloud Foundry, the operator between them.",
  description: [
    "Starts a small Kubernetes API and sandboxes that stand in for SAP Service Manager and Cloud Foundry on this machine",
    "(loopback only), installs the CRDs and examples that rotate every few seconds, and runs the operator. Use any kubectl",
    "with the kubeconfig it prints. What happens is shown as it happens. The sandboxes have switches (keyturn sandbox",
    "--help). Pods of Bind9Instances run a named, or what stands in for one; other pods run nothing.",
  ].join("\n"),
  options: [
    { name: "data-dir", value: "DIR", description: "Where state is kept across restarts.", default: ".keyturn" },
    { name: "ephemeral", description: "Keep nothing: everything is gone when it stops." },
    { name: "examples", description: "Start without the examples.", isOnByDefault: true },
    {
      name: "operator",
      description: `Start without the operator, to run it yourself: keyturn operator --kubeconfig FILE --min-frequency ${DEMO_PACE.minFrequency} --min-rotate-after ${DEMO_PACE.minRotateAfter}.`,
      isOnByDefault: true,
    },
    readyFileOption,
    {
      name: "port",
      value: "PORT",
      description: "Port of the API; 0 takes the one of the last run, or a free one.",
      default: "0",
    },
    {
      name: "sandbox-port",
      value: "PORT",
      description: "Port of the sandbox Service Manager; 0 takes the one of the last run, or a free one.",
      default: "0",
    },
    { name: "cloud-foundry-port", value: "PORT", description: "The same for the sandbox Cloud Foundry.", default: "0" },
    {
      name: "named",
      value: "WHICH",
      description: "What pods of Bind9Instances run: auto (the named on the PATH, else a stand-in), stand-in or off.",
      default: "auto",
      choices: ["auto", "stand-in", "off"],
    },
    { name: "dashboard", description: "Start without the dashboard.", isOnByDefault: true },
    {
      name: "dashboard-port",
      value: "PORT",
      description: "Port of the dashboard; 0 takes a free one.",
      default: "0",
    },
    {
      name: "metrics-bind",
      value: "ADDRESS",
      description: "Where /metrics and health are served; 0: off.",
      default: "127.0.0.1:0",
    },
    ...operatorOptions(DEMO_PACE),
    { name: "quiet", description: "Do not show changes as they happen." },
  ],
  // Loaded only here: the other commands need none of the embedded API, and it is most of the code.
  run: async (flags, world) => (await import("./run-up.ts")).runUp(flags, world),
};
