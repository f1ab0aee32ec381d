/** `{ [key]: value }`, or undefined if there is no value. */
export function given<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { [K in Key]?: Value } | undefined {
  return value === undefined ? undefined : ({ [key]: value } as { [K in Key]?: Value })
}
