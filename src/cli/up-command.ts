import type { Command } from "./command.ts";
import { operatorOptions } from "./operator-options.ts";

export const upCommand: Command = {
  name: "up",
  summary: "Try it here: an embedded Kubernetes API with the operator attached.",
  description:
    "Starts a small Kubernetes API on this machine (loopback only), installs the CRDs and a few examples, and runs the\noperator on it. Use any kubectl with the kubeconfig it prints. What happens is shown as it happens.",
  options: [
    { name: "data-dir", value: "DIR", description: "Where state is kept across restarts.", default: ".keyturn" },
    { name: "ephemeral", description: "Keep nothing: everything is gone when it stops." },
    { name: "examples", description: "Start without the examples.", isOnByDefault: true },
    { name: "ready-file", value: "FILE", description: "Write JSON to FILE once everything is up (for scripts)." },
    {
      name: "port",
      value: "PORT",
      description: "Port of the API; 0 takes the one of the last run, or a free one.",
      default: "0",
    },
    {
      name: "metrics-bind",
      value: "ADDRESS",
      description: "Where /metrics and health are served; 0: off.",
      default: "127.0.0.1:0",
    },
    ...operatorOptions,
    { name: "quiet", description: "Do not show changes as they happen." },
  ],
  // Loaded only here: the other commands need none of the embedded API, and it is most of the code.
  run: async (flags, world) => (await import("./run-up.ts")).runUp(flags, world),
};
