import type { ComponentProps } from 'react'

/**
 * An image of a message, unchanged: Next would request a smaller copy from its server, which data URLs do not
 * have.
 */
export function Picture({ alt, ...rest }: ComponentProps<'img'> & { readonly alt: string }) {
  // biome-ignore lint/performance/noImgElement: see above.
  return <img alt={alt} loading="lazy" {...rest} />
}
