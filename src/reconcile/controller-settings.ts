import type { AuditTrail } from "../audit/audit-entry.ts";
import type { HttpPort } from "../providers/http-port.ts";
import type { RestartMetrics } from "../report/restart-metrics.ts";
import type { RndcKeyMetrics } from "../report/rndc-key-metrics.ts";
import type { RotationMetrics } from "../report/rotation-metrics.ts";
import type { KorifiMode } from "./korifi/strangers.ts";
import type { RestartKnowledge } from "./restart/restart-knowledge.ts";
import type { RestartSettings } from "./restart/restart-settings.ts";

/** What every controller is told by whoever runs the operator. */
export interface ControllerSettings {
  /** Where the operator keeps what is its own. */
  readonly namespace: string;
  /** The name of this process, for events. */
  readonly instance: string;
  /** The way to external systems. */
  readonly http: HttpPort;
  readonly metrics?: RotationMetrics;
  readonly rndcKeyMetrics?: RndcKeyMetrics;
  /** Where every step that matters is written down. */
  readonly audit?: AuditTrail;
  /** Whether the local clock and the API server's differ too much to act on dates. */
  readonly isSkewed: () => boolean;
  /** Rotating faster than this is refused. */
  readonly minFrequencyMs: number;
  /** A `rotateAfter` of an RNDC key that is shorter than this is refused. */
  readonly minRotateAfterMs: number;
  /** Told whenever a resource was compared with what is outside. Must be quick and must not throw. */
  readonly onCompared?: (at: number) => void;
  /** How often each resource is compared with what is outside, though nothing asks for it. */
  readonly driftCheckMs: number;
  /** How often children that nobody may watch are looked at. */
  readonly childCheckMs: number;
  /** How often each provider configuration is searched for keys whose resource is gone. */
  readonly sweepMs: number;
  /** How long a create that nobody heard of may still land outside. */
  readonly settleMs: number;
  /** How many rotations that are overdue together may start within a second, per provider configuration. */
  readonly overdueStartsPerSecond: number;
  /** A rollout for an RNDC key that takes longer is told of, and begun again; ten minutes when nothing is said. */
  readonly rolloutPatienceMs?: number;
  /** Whether service instances and bindings are looked after although Korifi's own controllers seem to; "auto": not then. */
  readonly korifi?: KorifiMode;
  readonly restart: RestartSettings;
  readonly restartMetrics?: RestartMetrics;
  /** What the restart controller tells the others; absent while it is off. */
  readonly knowledge?: RestartKnowledge;
}
