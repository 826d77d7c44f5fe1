/** What came of a kill, of all kills at one length of the Lease, and of everything. */
export interface KillFigures {
  readonly leaseSeconds: number;
  readonly kill: number;
  /** From the kill to the other one's first write of a rotation. */
  readonly tookMs: number;
  /** Rotations that were under way at the kill, and how many of their keys were at the broker. */
  readonly underWay: number;
  readonly underWayAtBroker: number;
}

export interface SpellFigures {
  readonly leaseSeconds: number;
  readonly kills: number;
  readonly limitMs: number;
  readonly tookMs: { readonly min: number; readonly median: number; readonly max: number };
  readonly underWay: number;
  readonly underWayAtBroker: number;
  /** How often one of the two gave up by itself, because it could not renew its Lease in time. */
  readonly lostLeases: number;
}

export interface FailoverReport {
  readonly seed: number;
  readonly resources: number;
  readonly spells: readonly SpellFigures[];
  readonly rotations: number;
  /** How often somebody logged in with what a Secret held. */
  readonly logins: number;
  /** The most keys that one resource had outside at a time, and how many were seen to go. */
  readonly mostKeys: number;
  readonly keysGone: number;
  readonly contentChanges: number;
  readonly rollouts: number;
  readonly problems: readonly string[];
}
