/** Values separated by commas. Undefined for none. */
export function listOf(text: string | undefined): readonly string[] | undefined {
  const values = (text ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
  return values.length > 0 ? values : undefined
}
