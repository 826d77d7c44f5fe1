/**
 * Kubernetes quantities (`100m`, `1.5Gi`, `2e3`) as exact numbers of billionths: what CEL's `quantity()` compares and
 * adds. Finer fractions are rounded up, as the API server does.
 */
export class Quantity {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  get isInteger(): boolean {
    return this.nanos % NANO === 0n;
  }
}

const NANO = 1_000_000_000n;
const BINARY_POWERS: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };
const DECIMAL_POWERS: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

const SHAPE = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?|[eE][+-]?\d{1,3})$/;
const MAX_TEXT_LENGTH = 100;

export function parseQuantity(text: string): Quantity | undefined {
  const match = text.length > MAX_TEXT_LENGTH ? null : SHAPE.exec(text);
  if (!match) return undefined;
  const [, sign, number = "", suffix = ""] = match;
  const [whole = "", fraction = ""] = number.split(".");
  const digits = BigInt(`${whole}${fraction}` || "0");
  const binary = BINARY_POWERS[suffix];
  const exponent = binary === undefined ? decimalExponent(suffix) : 0;
  const scaled = digits * NANO * 2n ** (binary ?? 0n) * 10n ** BigInt(Math.max(0, exponent));
  const nanos = divideUp(scaled, 10n ** BigInt(fraction.length + Math.max(0, -exponent)));
  return new Quantity(sign === "-" ? -nanos : nanos);
}

const decimalExponent = (suffix: string): number => DECIMAL_POWERS[suffix] ?? Number(suffix.slice(1));

const divideUp = (value: bigint, by: bigint): bigint => (value % by === 0n ? value / by : value / by + 1n);

export const quantityFromInteger = (value: bigint): Quantity => new Quantity(value * NANO);

/** The whole number behind a quantity, where it is one that fits. */
export const quantityToInteger = (quantity: Quantity): bigint => quantity.nanos / NANO;

export const quantityToNumber = (quantity: Quantity): number => Number(quantity.nanos) / Number(NANO);
