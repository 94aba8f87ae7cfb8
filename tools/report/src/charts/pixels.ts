// A picture made pixel by pixel, for what would be thousands of narrow rectangles.

// "#rrggbb" as a canvas keeps it in memory on a little-endian machine, which all that run browsers are.
export function pixelOf(colour: string): number {
  const rgb = parseInt(colour.slice(1), 16);
  return (0xff000000 | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >>> 16)) >>> 0;
}

export class Pixels {
  width = 0;
  height = 0;
  private values = new Uint32Array(0);
  private readonly canvas = document.createElement("canvas");

  start(width: number, height: number, background: string): void {
    if (width !== this.width || height !== this.height) {
      this.width = this.canvas.width = width;
      this.height = this.canvas.height = height;
      this.values = new Uint32Array(width * height);
    }
    this.values.fill(pixelOf(background));
  }

  // The pixels of column x from `from` above the bottom to `to`.
  column(x: number, from: number, to: number, value: number): void {
    const last = (this.height - Math.min(to, this.height)) * this.width + x;
    for (let at = (this.height - 1 - from) * this.width + x; at >= last; at -= this.width) this.values[at] = value;
  }

  show(pen: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
    const image = new ImageData(new Uint8ClampedArray(this.values.buffer), this.width, this.height);
    this.canvas.getContext("2d")!.putImageData(image, 0, 0);
    pen.drawImage(this.canvas, x, y, width, height);
  }
}
