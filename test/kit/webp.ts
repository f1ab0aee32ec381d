import type { Page } from 'playwright-core'

/** What a page shows, as WebP: the browser's own encoder makes a tenth of a PNG. */
export async function webpOf(page: Page): Promise<Buffer> {
  const png = await page.screenshot({ animations: 'disabled' })
  const url = await page.evaluate(
    async (source) => {
      const image = new Image()
      image.src = source
      await image.decode()
      const canvas = Object.assign(document.createElement('canvas'), {
        width: image.naturalWidth,
        height: image.naturalHeight,
      })
      canvas.getContext('2d')?.drawImage(image, 0, 0)
      return canvas.toDataURL('image/webp', 0.82)
    },
    `data:image/png;base64,${png.toString('base64')}`,
  )
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}
