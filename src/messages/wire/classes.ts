/** The type of a message from its LangChain class path, the `id` of a constructor envelope. */
export function typeOfClass(path: unknown): string | undefined {
  if (!Array.isArray(path)) return undefined
  const match = /^(Human|AI|System|Tool|Function|Remove)Message(Chunk)?$/.exec(String(path.at(-1)))
  return match?.[1]?.toLowerCase()
}
