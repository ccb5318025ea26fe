"""Random matrices: Marchenko-Pastur and Silverstein laws, spikes, the edge, and weight matrices that users bring."""
