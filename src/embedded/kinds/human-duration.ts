/** Lengths of time as kubectl shows them: `5s`, `3m20s`, `2d`, `1y40d`. */
export function humanDuration(lengthMs: number): string {
  const seconds = Math.trunc(lengthMs / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return joined(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return joined(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 24 * 8) return joined(days, "d", hours % 24, "h");
  if (days < 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  return days < 365 * 8 ? joined(years, "y", days % 365, "d") : `${years}y`;
}

const joined = (large: number, unit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`;

/** How long ago an RFC 3339 time stamp was. */
export function humanAge(timestamp: unknown, nowAt: number): string {
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) ? "<unknown>" : humanDuration(nowAt - at);
}
