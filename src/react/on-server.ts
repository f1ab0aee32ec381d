/**
 * Renders on a server begin with what a page begins with, and call nothing of React: in Next, packages that Node loads by itself find another React
 * than the page's, whose hooks fail there. So no app has to be configured for these.
 */
export const isServer = typeof document === 'undefined'
