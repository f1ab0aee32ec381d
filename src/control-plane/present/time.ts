/** Milliseconds since 1970 as the API answers them. */
export const isoTime = (at: number): string => new Date(at).toISOString()
