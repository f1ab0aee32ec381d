import type { ComponentProps } from 'react'

/** An image of a message. It is shown as it came: Next would ask its server for a smaller copy, which data URLs do not have. */
export function Picture({ alt, ...rest }: ComponentProps<'img'> & { readonly alt: string }) {
  // biome-ignore lint/performance/noImgElement: see above.
  return <img alt={alt} loading="lazy" {...rest} />
}
