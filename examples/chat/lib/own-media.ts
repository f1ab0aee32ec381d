/**
 * Other origins whose images, sounds and videos the page loads by itself, such as `https://files.example.com`.
 * None by default: whatever can make a model write an image's address can send what the model knows to that
 * address, without a click. Add them to `Content-Security-Policy` in `next.config.ts`, too.
 */
const MEDIA_ORIGINS: readonly string[] = []

/** The address of an image, or undefined if the page may not load it without a click. */
export const safeImage = (source: string, origins = MEDIA_ORIGINS): string | undefined =>
  /^data:image\//i.test(source) || isOwnMedia(source, origins) ? source : undefined

/** Whether the page may load a file without a click: of the message itself, its own server or a named one. */
export function isOwnMedia(source: string, origins = MEDIA_ORIGINS): boolean {
  if (/^(data:(image|audio|video)\/|blob:)/i.test(source)) return true
  if (!URL.canParse(source)) return false
  const { origin } = new URL(source)
  return origins.includes(origin) || origin === globalThis.location?.origin
}
