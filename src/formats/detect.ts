import type { Format } from './format.ts'

/**
 * The format that values are in: the first of the list that knows the first value, or else the second, and so on. Responses
 * tell more than requests do, so give them first. Specific formats belong before general ones in the list, as they
 * stand in `formats`.
 *
 * @param name Asks for the format of this name, whatever the values look like.
 */
export function detectFormat(
  formats: readonly Format[],
  values: readonly unknown[],
  name?: string,
): Format | undefined {
  if (name !== undefined) return formats.find((format) => format.name === name)
  for (const value of values) {
    const found = formats.find((format) => format.detect(value))
    if (found) return found
  }
  return undefined
}
