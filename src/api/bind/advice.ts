/**
 * What is allowed about the settings of an RNDC key and will surprise: the same words at admission and in the condition.
 * Each is said of a field, such as `spec.global.rndcKeys`.
 */
export const rndcKeyAdvice = {
  isLong: (field: string) =>
    `${field}.rotateAfter is longer than 90 days (2160h), which most rules for such keys do not allow`,
  rotatesNothing: (field: string) =>
    `${field}.autoRotate says nothing beside secretRef: that Secret is somebody else's, and its key is never rotated here`,
  ignoresSecret: (field: string) => `${field}.secret is ignored: secretRef goes before it`,
  isOff: (field: string) => `${field}.rotateAfter says nothing without autoRotate: true: the key is not rotated`,
  hasNoOverlap: (field: string) => `${field}.overlap says nothing with strategy: Restart, which has one key at a time`,
  isShort: (field: string) =>
    `${field}.secret has a key that is shorter than its HMAC: let one be generated, or rotate it soon`,
  ignoresKey: (level: string) => `${level}.rndcKey is ignored: rndcKeys goes before it`,
  ignoresRef: (level: string) => `${level}.rndcSecretRef is ignored: rndcKeys and rndcKey go before it`,
  isDeprecated: (level: string) => `${level}.rndcSecretRef is deprecated: say rndcKeys.secretRef`,
} as const satisfies Readonly<Record<string, (field: string) => string>>;
