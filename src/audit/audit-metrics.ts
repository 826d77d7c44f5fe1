import { Counter, Gauge, type Registry } from "prom-client";
import type { AuditLog, AuditObserver } from "./audit-log.ts";

/** What is counted about the audit log. Must not: influence what it observes. */
export class AuditMetrics implements AuditObserver {
  readonly #registry: Registry;
  readonly #lines: Counter;
  readonly #anchors: Counter;
  readonly #failures: Counter<"what">;
  readonly #lost: Counter;

  constructor(registry: Registry) {
    this.#registry = registry;
    const registers = [registry];
    this.#lines = new Counter({ name: "keyturn_audit_lines_total", help: "Lines of the audit log.", registers });
    this.#anchors = new Counter({
      name: "keyturn_audit_anchors_total",
      help: "Writes of the Secret that says how far the audit log has come.",
      registers,
    });
    this.#failures = new Counter({
      name: "keyturn_audit_failures_total",
      help: "Failed attempts to write to the audit log (write), or to anchor it (anchor).",
      labelNames: ["what"],
      registers,
    });
    this.#lost = new Counter({
      name: "keyturn_audit_lost_total",
      help: "Steps that were never written down, since the audit log could not be written for too long.",
      registers,
    });
    for (const what of ["write", "anchor"]) this.#failures.inc({ what }, 0);
  }

  written(lines: number): void {
    this.#lines.inc(lines);
  }

  anchored(): void {
    this.#anchors.inc();
  }

  failed(what: "write" | "anchor"): void {
    this.#failures.inc({ what });
  }

  lost(lines: number): void {
    this.#lost.inc(lines);
  }

  /** Once. */
  addProbe(log: Pick<AuditLog, "state">): void {
    const registers = [this.#registry];
    new Gauge({
      name: "keyturn_audit_waiting_lines",
      help: "Lines that wait to be written to the audit log.",
      registers,
      collect() {
        this.set(log.state.waiting);
      },
    });
    new Gauge({
      name: "keyturn_audit_unanchored_lines",
      help: "Lines of the audit log that are written and not anchored yet.",
      registers,
      collect() {
        this.set(log.state.unanchored);
      },
    });
  }
}
