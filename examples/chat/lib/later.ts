import { type ComponentType, lazy } from 'react'
import { agents } from './client.ts'

/** A component whose code is loaded when it is first shown. */
export const later = <Props>(load: () => Promise<ComponentType<Props>>) =>
  lazy(async () => ({ default: await loadPatiently(load) }))

/** Loads a part of the page. If the server was unavailable, it loads again when the server is back. */
export async function loadPatiently<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load()
  } catch {
    await agents.fetch('/ok')
    return load()
  }
}
