/** What a handler of an `Auth` wants the metadata of a thread to be: values, or an object with operators. */
export type MetadataFilter = Readonly<Record<string, unknown>>

/**
 * The filter without the keys that have to be the owner's identity, which hold for every thread that the owner sees here. Undefined
 * where nothing else is asked for.
 */
export function beyondOwner(filter: MetadataFilter | undefined, owner: string): MetadataFilter | undefined {
  const rest = Object.entries(filter ?? {}).filter(([, wanted]) => operatorsOf(wanted).$eq !== owner)
  return rest.length > 0 ? Object.fromEntries(rest) : undefined
}

export const matches = (metadata: Readonly<Record<string, unknown>>, filter: MetadataFilter): boolean =>
  Object.entries(filter).every(([key, wanted]) => {
    const { $eq, $contains } = operatorsOf(wanted)
    const value = metadata[key]
    if ($eq !== undefined && value !== $eq) return false
    return (
      $contains === undefined ||
      (Array.isArray(value) && [$contains].flat().every((one) => value.includes(one)))
    )
  })

const operatorsOf = (wanted: unknown): { readonly $eq?: unknown; readonly $contains?: unknown } =>
  typeof wanted === 'object' && wanted !== null ? wanted : { $eq: wanted }
